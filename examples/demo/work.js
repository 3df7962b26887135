// node, deno, bun: alpha, beta and gamma share the time 60 : 30 : 10.
function alpha(n) { let x = 1; for (let i = 0; i < 6 * n; i++) x = (x * 31 + i) % 1000003; return x; }
function beta(n) { let x = 1; for (let i = 0; i < 3 * n; i++) x = (x * 31 + i) % 1000003; return x; }
function gamma(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }

const seconds = 1;
const spent = { alpha: 0, beta: 0, gamma: 0 };
const start = performance.now();
let sum = 0;
while (performance.now() - start < seconds * 1000) {
  for (const f of [alpha, beta, gamma]) {
    const before = performance.now();
    sum += f(20000);
    spent[f.name] += performance.now() - before;
  }
}
const total = spent.alpha + spent.beta + spent.gamma;
const share = (name) => `${name} ${(100 * spent[name] / total).toFixed(1)}`;
console.log(`${share('alpha')} ${share('beta')} ${share('gamma')}`);
if (sum === 0) throw new Error('the work was optimised away');
