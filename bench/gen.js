// Heavy JIT use: 5,000 generated functions, all hot in turn, for the seconds given.
'use strict';
const COUNT = 5000;
const seconds = Number(process.argv[2] || 8);
const make = (i) => new Function('n', `
  // generated ${i}
  let x = ${i};
  for (let k = 0; k < n; k++) x = (x * 31 + k + ${i % 97}) % 1000003;
  return x;
  //# sourceURL=generated_${i}.js`);
const functions = [];
for (let i = 0; i < COUNT; i++) functions.push(make(i));
const start = Date.now();
let sum = 0;
let calls = 0;
while (Date.now() - start < seconds * 1000) {
  // A window of functions is hot, then the next one: compiled, optimised, left behind.
  const from = Math.floor((Date.now() - start) / (seconds * 1000) * COUNT);
  for (let i = from; i < Math.min(from + 50, COUNT); i++, calls++) sum += functions[i](200);
}
console.log(`calls ${calls} sum ${sum}`);
