// Opens a file in speedscope and prints, as one line of JSON, what it shows: per profile its name and
// the rows of its sandwich table (the number of the weight, the self weight, the name), and what
// speedscope itself would write of the file.
//
//     node speedscope.cjs FILE FOLDER         FOLDER: for what it needs meanwhile
"use strict";
const fs = require("fs");
const path = require("path");
const { browse } = require("./chromium.cjs");

const [file, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const page_file = require.resolve("speedscope/dist/release/index.html");

// speedscope takes a profile from beside the page as a script that calls it.
function script_of(file) {
	const script = path.join(folder, "speedscope-file.js");
	const content = fs.readFileSync(file).toString("base64");
	const name = JSON.stringify(path.basename(file));
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${name}, "${content}")`);
	return script;
}

// The last table of the page is the view's; one before it lists the profiles.
function rows_of(page) {
	return page.$$eval("table", (tables) =>
		[...tables[tables.length - 1].querySelectorAll("tr")].map((row) =>
			[...row.querySelectorAll("td, th")].map((cell) => cell.innerText.trim())));
}

async function save(page) {
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.keyboard.press("Control+s"),
	]);
	const saved = path.join(folder, "speedscope-saved.json");
	await download.saveAs(saved);
	return JSON.parse(fs.readFileSync(saved));
}

browse(async (page) => {
	await page.goto(`file://${page_file}#localProfilePath=${script_of(file)}&view=sandwich`);
	await page.waitForFunction(() => {
		const tables = document.querySelectorAll("table");
		return tables.length && tables[tables.length - 1].getBoundingClientRect().height;
	});
	await page.screenshot({ path: path.join(folder, "speedscope.png") });
	const shown = { title: await page.title(), rows: await rows_of(page), saved: await save(page) };
	console.log(JSON.stringify(shown));
}, { acceptDownloads: true, viewport: { width: 1280, height: 1000 } });
