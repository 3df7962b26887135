// Opens a flame graph in a browser and prints, as one line of JSON, what its script does: zoom by
// click, search, the way back, and what a reload keeps. Pictures go to FOLDER.
//
//     node flame_graph.cjs FILE FOLDER NAME
//
// NAME is what the boxes that are searched for are called.
"use strict";
const path = require("path");
const { browse } = require("./chromium.cjs");

const [file, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const name = process.argv[4];

// Of what can be seen: name, where it is, what is written in it.
const boxes = (page) => page.$$eval("#boxes > g:not(.hidden)", (groups) => groups.map((g) => {
	const rect = g.querySelector("rect");
	const line = g.querySelector("title").textContent.split("\n")[0];
	const written = g.querySelector("text");
	return {
		name: line.slice(0, line.lastIndexOf(" (")),
		x: Number(rect.getAttribute("x")),
		width: Number(rect.getAttribute("width")),
		textWidth: written.textContent ? written.getComputedTextLength() : 0,
		isFound: g.classList.contains("found"),
		fill: getComputedStyle(rect).fill,
	};
}));
const text = (page, id) => page.$eval(id, (element) => element.textContent);

async function visit(page) {
	const shown = {};
	await page.goto(`file://${file}`);
	shown.start = await boxes(page);
	shown.summary = await text(page, "#summary");
	await page.screenshot({ path: path.join(folder, "flame-graph.png") });
	await page.keyboard.press("Control+f");
	await page.keyboard.type(name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
	shown.found = (await boxes(page)).filter((box) => box.isFound).map((box) => box.name);
	shown.matched = await text(page, "#matched");
	const box = page.locator("#boxes > g.found rect").first();
	await box.hover();
	shown.hovered = await text(page, "#summary");
	await box.click();
	shown.zoomed = await boxes(page);
	shown.zoomMatched = await text(page, "#matched");
	await page.screenshot({ path: path.join(folder, "flame-graph-zoomed.png") });
	await page.reload();
	shown.reloaded = await boxes(page);
	await page.click("#unzoom");
	shown.back = await boxes(page);
	await page.focus("#find");
	await page.keyboard.press("Escape");
	shown.cleared = await text(page, "#matched");
	await page.emulateMedia({ colorScheme: "dark" });
	shown.dark = (await boxes(page)).map((one) => one.fill);
	await page.screenshot({ path: path.join(folder, "flame-graph-dark.png") });
	console.log(JSON.stringify(shown));
}

browse(visit, { viewport: { width: 1400, height: 900 } });
