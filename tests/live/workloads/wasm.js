// The same shares in WebAssembly: work.wasm is work.wat assembled.
const fs = require('fs');
const path = require('path');
const bytes = fs.readFileSync(path.join(__dirname, 'work.wasm'));
const wasm = new WebAssembly.Instance(new WebAssembly.Module(bytes), {}).exports;

function spentMs() { const { user, system } = process.cpuUsage(); return (user + system) / 1000; }

const seconds = Number(process.argv[2] ?? 3);
const spent = [0, 0, 0];
const start = spentMs();
let sink = 0, rounds = 0;
while (spentMs() - start < seconds * 1000) {
  for (const [index, work] of [wasm.alpha, wasm.beta, wasm.gamma].entries()) {
    const from = spentMs();
    sink += work(40000, rounds & 1023);
    spent[index] += spentMs() - from;
  }
  sink += wasm.recur(14);
  rounds++;
}
const total = spent[0] + spent[1] + spent[2];
const share = spent.map((one) => (100 * one / total).toFixed(1));
console.log(`rounds ${rounds} share alpha ${share[0]} beta ${share[1]} gamma ${share[2]} sink ${sink % 1000}`);
