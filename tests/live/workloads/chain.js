// A known chain of calls, interpreted and compiled: chain.js SECONDS.
// Prints the times (CLOCK_MONOTONIC, ns) between which outer > middle > inner is on the stack.
'use strict';

function leaf(rounds) {
	let x = 1;
	for (let i = 0; i < rounds; i++)
		x = (x * 31 + i) % 1000003;
	return x;
}

// Made anew in each round: it does not live long enough to be optimised.
function made(k) {
	return new Function('leaf', `return function inner${k}(n) { return leaf(n) + ${k}; }`)(leaf);
}

function garbage(n) {
	const all = [];
	for (let i = 0; i < n; i++)
		all.push({ i, text: `${i}` });
	return all.length;
}

function inner(n, k) {
	return leaf(2000) + [1, 2, 3].map((one) => leaf(200 * one)).length + made(k)(300) + garbage(100);
}

class Middle {
	run(n) {
		let sum = 0;
		for (let i = 0; i < n; i++)
			sum += inner(n, i);
		return sum;
	}
}

// Of the processor: a busy machine must leave as many samples.
function spentMs() {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}

function outer(end) {
	const middle = new Middle();
	let sum = 0;
	while (spentMs() < end)
		sum += middle.run(200);
	return sum;
}

const start = process.hrtime.bigint();
outer(spentMs() + 1e3 * Number(process.argv[2]));
console.log('phase', String(start), String(process.hrtime.bigint()));
