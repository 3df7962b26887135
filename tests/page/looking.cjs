// Cases: what a reader of the page does.
"use strict";
const assert = require("assert");

// Names, objects, self and total samples of all functions are those of `report --format json`.
async function counts(t) {
	await t.open();
	const rows = await t.functions();
	const shown = new Map();
	for (const [self, selfSamples, total, totalSamples, name, , object] of rows)
		shown.set(`${name}\t${object}`, [self, selfSamples, total, totalSamples].map((cell) => cell.replace(/,/g, "")));
	const missing = [];
	for (const row of t.wanted.total) {
		const key = `${row.symbol}\t${row.object}`;
		const self = t.wanted.self.find((one) => one.symbol === row.symbol && one.object === row.object
			&& one.runtime === row.runtime);
		const want = [`${row.self.toFixed(2)}%`, String(self ? self.samples : 0), `${row.children.toFixed(2)}%`,
			String(row.samples)];
		if (String(shown.get(key)) !== String(want)) missing.push(`${key}: ${shown.get(key)}, report has ${want}`);
	}
	assert.deepStrictEqual(missing, []);
	assert.strictEqual(rows.length, t.wanted.total.length);
	const summary = await t.text("#head .summary");
	assert(summary.startsWith(`${t.wanted.samples.toLocaleString("en-US")} samples `), summary);
	assert(summary.endsWith(` ${(100 * t.wanted.exact / t.wanted.samples).toFixed(1)}% exact`), summary);
}

const graph = (t) => t.page.locator("#view-flame .flame");
const whole = (t) => t.text("#view-flame .details .whole");

// A box is found by the keyboard, entered, kept by a reload, left by Escape and by the back button.
async function zoom(t) {
	await t.open();
	await graph(t).focus();
	for (let i = 0; i < 3; i++) await t.page.keyboard.press("ArrowDown");
	const name = await whole(t);
	await t.page.keyboard.press("Enter");
	const zoomed = (await t.fragment()).get("zoom");
	assert.strictEqual(zoomed.split(".").length, 3);
	assert.strictEqual(await t.text("#head .chip"), `in ${name}\n×`);
	await t.shot("zoom");
	await t.reload();
	assert.strictEqual((await t.fragment()).get("zoom"), zoomed);
	assert.strictEqual(await t.text("#head .chip"), `in ${name}\n×`);
	assert.strictEqual(await whole(t), name);
	await t.page.goBack();
	assert.strictEqual((await t.fragment()).get("zoom"), null);
	await t.page.goForward();
	assert.strictEqual((await t.fragment()).get("zoom"), zoomed);
	await t.page.keyboard.press("Escape");
	assert.strictEqual((await t.fragment()).get("zoom").split(".").length, 2);
	await t.page.keyboard.press("u");
	assert.strictEqual((await t.fragment()).get("zoom"), null);
	assert.strictEqual(await t.page.locator("#head .chip").count(), 0);
}

// The pointer finds what the keyboard does; a click on what has the whole width goes out again.
async function pointer(t) {
	await t.open();
	const { x, y, width } = await graph(t).boundingBox();
	await t.page.mouse.move(x + width / 4, y + 30);
	const name = await t.text("#tooltip strong");
	assert.match(await t.text("#tooltip dl"), /Share\s*\d+\.\d\d%\s*Samples\s*[\d,]+/);
	await t.page.mouse.click(x + width / 4, y + 30);
	assert.strictEqual((await t.fragment()).get("zoom").split(".").length, 1);
	assert.strictEqual(await whole(t), name);
	await t.page.mouse.click(x + width / 4, y + 30);
	assert.strictEqual((await t.fragment()).get("zoom"), null);
	await t.page.mouse.move(x + width / 2, y - 60);
	assert(!await t.page.locator("#tooltip").isVisible());
	await t.page.click("text=Leaves first");
	await t.page.click("text=Flame >> nth=-1");
	assert.strictEqual((await t.fragment()).get("inverted"), "1");
	assert.strictEqual((await t.fragment()).get("icicle"), "0");
	await t.shot("leaves");
}

// The matched share is that of the samples with such a function in their stack.
async function search(t) {
	await t.open();
	await t.page.keyboard.press("/");
	await t.page.keyboard.type(t.wanted.pattern);
	assert.strictEqual(await t.text("#head .matched"), `${t.wanted.share}% matched`);
	await t.shot("search");
	const names = (await t.functions()).map((row) => row[4]);
	assert(names.length && names.every((name) => new RegExp(t.wanted.pattern, "i").test(name)), names);
	await t.reload();
	assert.strictEqual(await t.page.inputValue("#search"), t.wanted.pattern);
	await t.page.fill("#search", "(");
	assert.match(await t.text("#head .matched"), /% matched as text$/);
	assert.strictEqual(await t.page.getAttribute("#search", "aria-invalid"), "true");
	await t.page.fill("#search", "no such function");
	assert.strictEqual(await t.text("#head .matched"), "0.00% matched");
	assert.strictEqual((await t.rows("#view-functions")).length, 0);
}

// A filter by time leaves the samples of that time, in every view.
async function time(t) {
	await t.open(`#from=${t.wanted.from}&to=${t.wanted.to}`);
	assert.match(await t.text("#head .summary"), new RegExp(`^${t.wanted.samples.toLocaleString("en-US")} samples? `));
	const rows = await t.functions();
	const self = rows.reduce((sum, row) => sum + Number(row[1].replace(/,/g, "")), 0);
	assert.strictEqual(self, t.wanted.samples);
	await t.page.click("#head .chip button");
	assert.match(await t.text("#head .summary"), new RegExp(`^${t.wanted.all.toLocaleString("en-US")} samples? `));
}

async function keyboard(t) {
	await t.open();
	await t.page.keyboard.press("?");
	assert(await t.page.locator("dialog#keys").isVisible());
	await t.shot("help");
	await t.page.keyboard.press("c"); // a key of the page behind: not now
	assert.strictEqual((await t.fragment()).get("view"), null);
	await t.page.keyboard.press("Escape");
	assert(!await t.page.locator("dialog#keys").isVisible());
	await t.page.keyboard.press("c");
	assert.strictEqual((await t.fragment()).get("view"), "tree");
	const row = () => t.page.evaluate(() => document.activeElement.textContent);
	await t.page.locator("#view-tree tbody tr").first().focus();
	const first = await row();
	await t.page.keyboard.press("ArrowDown");
	assert.notStrictEqual(await row(), first);
	await t.page.keyboard.press("ArrowLeft");
	await t.page.keyboard.press("Home");
	await t.page.keyboard.press("ArrowLeft");
	const closed = (await t.rows("#view-tree")).length;
	await t.page.keyboard.press("ArrowRight");
	assert((await t.rows("#view-tree")).length > closed);
	await t.page.keyboard.press("s");
	assert.strictEqual((await t.fragment()).get("view"), "functions");
	await t.page.locator("#view-functions .scroll").focus();
	await t.page.keyboard.press("ArrowDown");
	const selected = (await t.fragment()).get("selected");
	await t.page.keyboard.press("ArrowDown");
	assert.notStrictEqual((await t.fragment()).get("selected"), selected);
	for (const [key, field, value] of [["i", "inverted", "1"], ["o", "icicle", "0"], ["d", "theme", "dark"], ["k", "colour", "runtime"]]) {
		await t.page.keyboard.press(key);
		assert.strictEqual((await t.fragment()).get(field), value, key);
	}
}

// Sorting, and the pictures of who called a function and what it called.
async function sandwich(t) {
	await t.open("#view=functions");
	const heads = await t.page.$$eval("#view-functions th button", (buttons) => buttons.map((b) => b.textContent.trim()));
	assert.deepStrictEqual(heads, ["Self ▼", "Samples", "Total", "Samples", "Function", "Tier", "Object"]);
	await t.page.click("#view-functions th:nth-child(3) button");
	const total = (await t.rows("#view-functions")).map((row) => parseFloat(row[2]));
	assert.deepStrictEqual(total, [...total].sort((a, b) => b - a));
	await t.page.click("#view-functions th:nth-child(5) button");
	const names = (await t.rows("#view-functions")).map((row) => row[4]);
	assert.deepStrictEqual(names, [...names].sort());
	assert.strictEqual(await t.page.getAttribute("#view-functions th:nth-child(5)", "aria-sort"), "ascending");
	await t.page.click(`#view-functions tbody >> text="${t.wanted.name}"`);
	assert.strictEqual(await t.text("#view-functions .details .whole"), t.wanted.name);
	assert.strictEqual(await t.page.locator("#view-functions tr[aria-current]").count(), 1);
	const callers = t.page.locator('#view-functions [aria-label^="Callers of"]');
	await t.settle();
	assert(await callers.evaluate((e) => e.scrollTop + e.clientHeight >= e.scrollHeight - 2), "the function is seen, its callers above");
	await callers.focus();
	await t.page.keyboard.press("ArrowUp"); // the picture of callers grows upwards
	assert.strictEqual(await t.text("#tooltip strong"), t.wanted.caller);
	await t.shot("sandwich");
}

module.exports = { counts, zoom, pointer, search, time, keyboard, sandwich };
