// Reads a trace with DevTools' own library and prints, as one line of JSON, the threads it finds:
// pid, tid, name, and of each call the name, start and duration in microseconds, the index of the
// call that it nests in (-1: none), and what is told of it.
//
//     node trace_engine.cjs FILE
"use strict";
const fs = require("fs");

globalThis.DOMRect = class {
	constructor(x, y, width, height) {
		Object.assign(this, { x, y, width, height });
	}
};

// The library makes a tree of each thread; a call's parent is in it.
function callsOf(thread) {
	const calls = [];
	const visit = (node, parent) => {
		const { name, ts, dur, args } = node.entry;
		const index = calls.push({ name, ts, dur, parent, args }) - 1;
		for (const child of node.children) visit(child, index);
	};
	for (const root of thread.tree ? thread.tree.roots : []) visit(root, -1);
	return calls;
}

async function main(file) {
	const engine = await import(require.resolve("@paulirish/trace_engine/models/trace/trace.js"));
	const model = engine.TraceModel.Model.createWithAllHandlers();
	await model.parse(JSON.parse(fs.readFileSync(file)).traceEvents);
	const { Renderer } = model.parsedTrace().data;
	const threads = [];
	for (const [pid, process] of Renderer.processes)
		for (const [tid, thread] of process.threads)
			threads.push({ pid, tid, name: thread.name, calls: callsOf(thread) });
	console.log(JSON.stringify(threads));
}

main(process.argv[2]).catch((error) => {
	console.error(error);
	process.exitCode = 1;
});
