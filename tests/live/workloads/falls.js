// Two functions whose objects change their shape: V8 gives their optimised code up each time. One whose do not.
// falls.js SECONDS
function add(a, b) { let s = 0; for (let i = 0; i < 200; i++) s += a.x * b + i; return s; }
function poly(o) { let t = 0; for (let i = 0; i < 100; i++) t += add(o, i); return t; }
function steady(n) { let t = 0; for (let i = 0; i < n; i++) t = (t * 31 + i) % 1000003; return t; }
const shapes = [() => ({ x: 1 }), () => ({ y: 1, x: 2.5 }), () => ({ z: "", y: 1, x: "a" })];
let sum = 0;
for (const make of shapes) {
	const start = process.cpuUsage();
	const spent = () => { const { user, system } = process.cpuUsage(start); return (user + system) / 1e6; };
	while (spent() < Number(process.argv[2]) / shapes.length)
		for (let i = 0; i < 20; i++) sum += poly(make()) + steady(20000);
}
console.log(sum > 0);
