// What the tests of the page do in a browser: page.cjs SCREENS JSON. SCREENS is a folder for pictures; the file
// JSON has a list of pages: the "file" or its address, and "cases" by name, with what each holds the page
// against. All are shown in one browser, one after the other. A fault is printed and fails.
"use strict";
const assert = require("assert");
const path = require("path");
const { browse } = require(path.join(__dirname, "../lib/chromium.cjs"));

const [screens, json] = process.argv.slice(2);
const pages = JSON.parse(require("fs").readFileSync(json, "utf8"));
const AXE = () => require("fs").readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const cases = {
	...require("./looking.cjs"), ...require("./trusting.cjs"), ...require("./showing.cjs"), ...require("./views.cjs"),
};

// What the cases work with.
function tools(page, faults, file, wanted) {
	return {
		page,
		faults,
		wanted,
		async open(fragment = "") {
			await page.goto("about:blank"); // another fragment alone would not load it again
			await page.goto(file.startsWith("http") ? file + fragment : `file://${path.resolve(file)}${fragment}`);
			await this.isReady();
		},
		// Another fragment of the page that is there.
		async go(fragment) {
			await page.evaluate((wanted) => new Promise((done) => {
				if (location.hash === wanted) return done();
				addEventListener("hashchange", done, { once: true });
				location.hash = wanted;
			}), fragment);
			await this.settle();
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
		// What axe-core finds that is serious or critical. A theme changes colours and nothing else: with a
		// second one `isOfColours` asks for the rules that look at those.
		async complaints(isOfColours) {
			// The page forbids scripts of others; a debugger's is none of the page's.
			if (await page.evaluate(() => typeof globalThis.axe) === "undefined") await page.evaluate(AXE());
			const { violations, passes } = await page.evaluate((rules) => axe.run(document, {
				resultTypes: ["violations"], ...(rules && { runOnly: rules }),
			}), isOfColours ? ["color-contrast", "link-in-text-block"] : null);
			assert(passes.some(({ id }) => id === "color-contrast"), "axe-core saw no text");
			return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, impact, nodes }) =>
				`${impact} ${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`).join("; ")}`);
		},
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
	for (const { file, cases: wanted } of pages)
		for (const name of Object.keys(wanted)) {
			assert(cases[name], `there is no case ${name}`);
			await page.setViewportSize({ width: 1280, height: 800 });
			await page.emulateMedia({ media: "screen", colorScheme: "light" });
			try {
				await cases[name](tools(page, faults, file, wanted[name]));
			} catch (error) {
				faults.push(`${name} of ${file}: ${error.stack}`);
			}
		}
});
