// `first` is hot for a while, then `second` is; functions that are compiled anew all the time beside
// them with the argument "churn". Runs until it is ended, or for so many seconds.
function first(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
function second(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 17 + i) % 1000003; return x; }

const [phase, total] = process.argv.slice(2, 4).map(Number);
const start = performance.now();
let sink = 0;
// Both at one call from the start: what a call has always called is inlined, and then has no samples.
const run = (f, n) => f(n);
for (let i = 0; i < 1000; i++) sink += run(i % 2 ? first : second, 1);
for (let round = 0; performance.now() - start < total * 1000; round++) {
  sink += run(performance.now() - start < phase * 1000 ? first : second, 100000);
  if (process.argv[4] === 'churn' && round % 4 === 0)
    sink += new Function('q', `let s = ${round}; for (let i = 0; i < 300; i++) s += i * q; return s;`)(2);
}
console.log(sink);
