// What the tests of the page do in a browser: page.cjs CASE[,CASE...] FILE SCREENS [JSON]. FILE is the
// page, or its address; SCREENS is a folder for pictures; JSON is what the cases have to hold it against,
// each its own under its name. A fault is printed and fails.
"use strict";
const assert = require("assert");
const path = require("path");
const { browse } = require(path.join(__dirname, "../lib/chromium.cjs"));

const [names, file, screens, json] = process.argv.slice(2);
const wanted = json ? JSON.parse(require("fs").readFileSync(json, "utf8")) : {};
const cases = {
	...require("./looking.cjs"), ...require("./trusting.cjs"), ...require("./showing.cjs"), ...require("./views.cjs"),
};

// What the cases work with.
function tools(page, faults, name) {
	return {
		page,
		faults,
		wanted: wanted[name],
		async open(fragment = "") {
			await page.goto("about:blank"); // another fragment alone would not load it again
			await page.goto(file.startsWith("http") ? file + fragment : `file://${path.resolve(file)}${fragment}`);
			await this.isReady();
		},
		async reload() {
			await page.reload();
			await this.isReady();
		},
		isReady: () => page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60000 }),
		settle: () => page.evaluate(() => new Promise((done) =>
			requestAnimationFrame(() => requestAnimationFrame(done)))),
		// Of what is dragged the address tells a little later.
		async fragment() {
			await page.waitForTimeout(120);
			return new URLSearchParams(await page.evaluate(() => location.hash.slice(1)));
		},
		text: (selector) => page.locator(selector).first().innerText(),
		shot: (title, options = {}) => page.screenshot({ path: path.join(screens, `${title}.png`), ...options }),
		// The rows of a table's body, as texts of cells.
		rows: (selector) => page.$$eval(`${selector} tbody tr`, (rows) =>
			rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
		async functions() {
			await page.click("#tabs >> text=Functions");
			const more = page.locator("#view-functions .more");
			if (await more.isVisible()) await more.click();
			return this.rows("#view-functions");
		},
	};
}

browse(async (page, faults) => {
	for (const name of names.split(",")) {
		assert(cases[name], `there is no case ${name}`);
		await page.setViewportSize({ width: 1280, height: 800 });
		await page.emulateMedia({ media: "screen", colorScheme: "light" });
		try {
			await cases[name](tools(page, faults, name));
		} catch (error) {
			faults.push(`${name}: ${error.stack}`);
		}
	}
});
