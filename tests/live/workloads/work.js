// alpha, beta and gamma do 60, 30 and 10 % of the hot loop; beside them a recursion, a function that is
// optimised again and again, odd names, and code from strings. Runs in node, deno and bun.
function alpha(n, k) { let x = k; for (let i = 0; i < n * 6; i++) x = (x * 31 + i) % 1000003; return x; }
function beta(n, k) { let x = k; for (let i = 0; i < n * 3; i++) x = (x * 31 + i) % 1000003; return x; }
function gamma(n, k) { let x = k; for (let i = 0; i < n; i++) x = (x * 31 + i) % 1000003; return x; }
function recur(d) { return d < 2 ? d : recur(d - 1) + recur(d - 2); }
function recompiled(a, b) {
  let s = a;
  for (let i = 0; i < 2000; i++) s = s + b;
  return typeof s === 'string' ? s.length : s;
}
function spin(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 7 + i) % 9973; return x; }
const odd = { 'naïve größe': function (n) { return spin(n) + 1; } };
class Klass {
  method(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 7 + i) % 9973; return x; }
  static ['a b\nc'](n) { return n + 1; }
}

// Of the processor, not of the clock: a busy machine must not shift the shares.
function spentMs() { const { user, system } = process.cpuUsage(); return (user + system) / 1000; }

const seconds = Number(globalThis.process?.argv?.[2] ?? 3);
const spent = [0, 0, 0];
const klass = new Klass();
const start = spentMs();
let sink = 0, rounds = 0;
while (spentMs() - start < seconds * 1000) {
  for (const [index, work] of [alpha, beta, gamma].entries()) {
    const from = spentMs();
    sink += work(40000, rounds & 1023);
    spent[index] += spentMs() - from;
  }
  sink += recur(16);
  sink += recompiled(rounds % 50 === 49 ? 'str' : rounds % 20 === 19 ? 1.5 : 1, 1);
  sink += odd['naïve größe'](2000) + klass.method(2000) + Klass['a b\nc'](1);
  if (rounds % 200 === 0)
    sink += eval('(function evald_' + (rounds % 7) + '(q) { let s = 0; for (let i = 0; i < 3000; i++) s += i * q; return s; })(2)');
  rounds++;
}
const total = spent[0] + spent[1] + spent[2];
const share = spent.map((one) => (100 * one / total).toFixed(1));
console.log(`rounds ${rounds} share alpha ${share[0]} beta ${share[1]} gamma ${share[2]} sink ${sink % 1000}`);
