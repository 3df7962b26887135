// Cases: nothing in a recording gets out of its place, and the page asks for nothing.
"use strict";
const assert = require("assert");

// wanted.names: how each hostile name is to be shown; wanted.whole: one that is cut in lists.
async function hostile(t) {
	const asked = [];
	t.page.on("request", (request) => asked.push(request.url().slice(0, 60)));
	await t.open();
	const rows = await t.functions();
	const names = rows.map((row) => row[4]);
	for (const name of t.wanted.names) assert(names.includes(name), `${name} is not among ${JSON.stringify(names.map((n) => n.slice(0, 80)))}`);
	assert.strictEqual(await t.page.evaluate(() => document.querySelectorAll("script:not([type='application/x-polyperf'])").length), 1);
	assert.strictEqual(await t.page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, svg, link[rel=stylesheet]").length), 0);
	assert.strictEqual(await t.page.evaluate(() => typeof globalThis.broken), "undefined");
	const long = names.findIndex((name) => name.length > 100);
	assert(names[long].endsWith("…") && names[long].length <= 300);
	await t.page.click(`#view-functions tbody tr:nth-child(${long + 1}) button`);
	assert.strictEqual(await t.page.textContent("#view-functions .details .whole"), t.wanted.whole);
	for (const view of await t.page.$$eval("#tabs .tab", (tabs) => tabs.map((tab) => tab.textContent))) {
		await t.page.click(`#tabs >> text="${view}"`);
		await t.settle();
		await t.shot(`hostile-${view.toLowerCase().replace(/\W+/g, "-")}`);
		const bad = await t.page.evaluate(() => {
			const text = document.body.innerText;
			return [...text].filter((c) => /[\u0000-\u0008\u000e-\u001f\u202a-\u202e\u2066-\u2069]/.test(c)).length;
		});
		assert.strictEqual(bad, 0, `${view} shows controls as they are`);
		assert(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} is too wide`);
	}
	const { x, y, width } = await t.page.locator("#view-flame .flame").boundingBox().catch(() => null)
		?? (await t.page.click("#tabs >> text=Flame graph"), await t.page.locator("#view-flame .flame").boundingBox());
	for (let i = 1; i < 8; i++) await t.page.mouse.move(x + width * i / 8, y + 30);
	assert.deepStrictEqual(asked.filter((url) => !/^(file|data):/.test(url)), []);
	assert(asked.length <= 2, `asked for ${asked}`);
}

// The policy of the page holds even for what would be put into it.
async function policy(t) {
	await t.open();
	const done = await t.page.evaluate(async () => {
		const tried = {};
		const attempt = async (name, f) => {
			try {
				tried[name] = await f();
			} catch (error) {
				tried[name] = "refused";
			}
		};
		await attempt("markup", () => { document.body.innerHTML += "<b>x</b>"; return "done"; });
		await attempt("request", () => fetch("http://127.0.0.1:9/").then(() => "done"));
		await attempt("script", () => {
			const script = document.createElement("script");
			script.textContent = "globalThis.broken = 1";
			document.body.append(script);
			return globalThis.broken ? "done" : "refused";
		});
		return tried;
	}).catch((error) => String(error));
	// The browser tells of each, and that is what is wanted.
	assert(t.faults.length >= 2 && t.faults.every((fault) => /Content Security Policy|TrustedHTML|TrustedScript/.test(fault)), t.faults);
	t.faults.length = 0;
	assert.deepStrictEqual(done, { markup: "refused", request: "refused", script: "refused" });
}

// From the loopback address of `polyperf open`.
async function served(t) {
	await t.open();
	assert.match(await t.text("#head .summary"), /^[\d,]+ samples /);
	await t.reload();
	assert.match(await t.text("#head .summary"), /^[\d,]+ samples /);
}

module.exports = { hostile, policy, served };
