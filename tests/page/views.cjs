// Cases: the timeline, the tiers, the pages of functions.
"use strict";
const assert = require("assert");

const count = (text) => Number(text.replace(/,/g, ""));
const samples = async (t) => count((await t.text("#head .summary")).split(" ")[0]);
const handle = (t, end) => t.page.locator(`#view-timeline .handle[aria-label^="${end}"]`);
const lanes = (t) => t.page.$$eval("#view-timeline .lane .what", (names) => names.map((name) => name.textContent));
const range = async (t) => {
	const fragment = await t.fragment();
	return ["from", "to"].map((name) => Number(fragment.get(name) ?? -1));
};

// The state is told a little later than it is shown.
const until = (t, from, to) => t.page.waitForFunction(([a, b]) => {
	const params = new URLSearchParams(location.hash.slice(1));
	return Number(params.get("from") ?? -1) === a && Number(params.get("to") ?? -1) === b;
}, [from, to]);

async function openTab(t, name) {
	await t.page.click(`#tabs >> text="${name}"`);
	await t.settle();
}

async function table(t, name) {
	await t.page.click(`#view-tiers .choice >> text="${name}"`);
	for (let more; (more = t.page.locator("#view-tiers .tablehost:visible .more:visible")), await more.count();) await more.click();
	return t.rows("#view-tiers .tablehost:visible");
}

async function checkTiers(t, wanted) {
	await openTab(t, "Tiers");
	const rows = await table(t, "Time by tier");
	const sums = new Map();
	for (const [, samples, , , , runtime, tier] of rows)
		sums.set(`${runtime}\t${tier}`, (sums.get(`${runtime}\t${tier}`) ?? 0) + count(samples));
	const shown = [...sums].map(([key, n]) => [n, ...key.split("\t")]);
	const order = (list) => list.map(String).sort();
	assert.deepStrictEqual(order(shown), order(wanted));
}

// Keys choose a time; every view has what `report --time` has of it; Escape takes the filter off.
async function brush(t) {
	const { wanted } = t;
	await t.open();
	await handle(t, "Start").focus();
	for (let i = 0; i < 2; i++) await t.page.keyboard.press("PageUp");
	await handle(t, "End").focus();
	for (let i = 0; i < 3; i++) await t.page.keyboard.press("PageDown");
	await t.page.keyboard.press("ArrowLeft");
	await until(t, wanted.from, wanted.to);
	assert.strictEqual(await samples(t), wanted.samples);
	assert.strictEqual(await handle(t, "End").getAttribute("aria-valuenow"), String(wanted.to));
	assert.match(await handle(t, "Start").getAttribute("aria-valuetext"), /^[\d.]+ (ms|s)$/);
	await t.shot("brush");
	const shown = {};
	for (const [, self, , , name, , object] of await t.functions()) if (count(self)) shown[`${name}\t${object}`] = count(self);
	assert.deepStrictEqual(shown, wanted.self);
	await checkTiers(t, wanted.tiers);
	await openTab(t, "Flame graph");
	const box = await t.page.locator("#view-flame .flame").boundingBox();
	await t.page.mouse.move(box.x + box.width / 2, box.y + 5);
	assert.match(await t.text("#tooltip dl"), new RegExp(`Samples\\s*${wanted.samples.toLocaleString("en-US")} `));
	await t.reload();
	assert.strictEqual(await samples(t), wanted.samples);
	// With Shift the whole moves, and no further than the run goes.
	await handle(t, "End").focus();
	await t.page.keyboard.press("Shift+ArrowRight");
	await until(t, wanted.from + wanted.step, wanted.to + wanted.step);
	await t.page.keyboard.press("Shift+End");
	await until(t, wanted.count - (wanted.to - wanted.from), wanted.count);
	await t.page.keyboard.press("Escape");
	await until(t, -1, -1);
	assert.strictEqual(await samples(t), wanted.all);
	await checkTiers(t, wanted.wholeTiers);
}

// The pointer draws a stretch, moves its ends and the whole; a double click takes all again.
async function drag(t) {
	await t.open();
	const plot = await t.page.locator("#view-timeline .plot").boundingBox();
	const buckets = await t.page.evaluate(() => Number(document.querySelector(".handle").getAttribute("aria-valuemax")));
	const y = plot.y + plot.height / 3;
	const at = (share) => plot.x + plot.width * share;
	const pull = async (from, to, key) => {
		if (key) await t.page.keyboard.down(key);
		await t.page.mouse.move(at(from), y);
		await t.page.mouse.down();
		await t.page.mouse.move(at((from + to) / 2), y, { steps: 4 });
		await t.page.mouse.move(at(to), y, { steps: 4 });
		await t.page.mouse.up();
		if (key) await t.page.keyboard.up(key);
	};
	// What is chosen is told a little later than it is shown.
	const near = (shares) => t.page.waitForFunction(([wanted, whole]) => {
		const params = new URLSearchParams(location.hash.slice(1));
		return wanted.every((share, i) => Math.abs(Number(params.get(["from", "to"][i]) ?? -1e9) - share * whole) <= Math.max(2, whole / 300));
	}, [shares, buckets], { timeout: 20000 }).catch(async () => assert.fail(`${await range(t)} of ${buckets}, not ${shares}`));
	await pull(0.2, 0.6);
	await near([0.2, 0.6]);
	await t.shot("drag");
	const shown = await samples(t);
	await t.reload();
	assert.strictEqual(await samples(t), shown);
	await pull(0.6, 0.8);
	await near([0.2, 0.8]);
	await pull(0.2, 0.5);
	await near([0.5, 0.8]);
	await pull(0.65, 0.45, "Shift");
	await near([0.3, 0.6]);
	await pull(0.9, 0.7);
	await near([0.7, 0.9]);
	await t.page.mouse.dblclick(at(0.5), y);
	await until(t, -1, -1);
	// The picture of tiers has the same brush.
	await openTab(t, "Tiers");
	const chart = await t.page.locator("#view-tiers .chartplot").boundingBox();
	await t.page.mouse.move(chart.x + chart.width * 0.25, chart.y + 50);
	await t.page.mouse.down();
	await t.page.mouse.move(chart.x + chart.width * 0.5, chart.y + 50, { steps: 8 });
	await t.page.mouse.up();
	await near([0.25, 0.5]);
	await t.page.click("text=Whole run");
	await until(t, -1, -1);
}

// Many threads: processes first, few at once, as many elements as can be seen; a lane filters.
async function lanesCase(t) {
	const { wanted } = t;
	await t.open();
	assert.deepStrictEqual(await lanes(t), ["large", "small-60", "small-59", "small-58"]);
	assert.strictEqual(await t.text("#view-timeline .more"), "57 more");
	await t.page.click("#view-timeline .more");
	const all = await lanes(t);
	assert(all.length > 10 && all.length < 40, all.length);
	await t.shot("lanes");
	await t.page.evaluate(() => { document.querySelector(".lanes").scrollTop = 1e6; });
	await t.page.waitForFunction(() => [...document.querySelectorAll(".lane .what")].some((e) => e.textContent === "small-1"));
	await t.page.evaluate(() => { document.querySelector(".lanes").scrollTop = 0; });
	await t.page.waitForFunction(() => document.querySelector(".lane .what").textContent === "large");
	await t.page.click("#view-timeline .lane .name >> nth=0");
	assert.strictEqual(await samples(t), wanted.large);
	assert.strictEqual(await t.page.getAttribute("#view-timeline .lane .name >> nth=0", "aria-pressed"), "true");
	await t.page.click("#view-timeline .lane .name >> nth=0");
	assert.strictEqual(await samples(t), wanted.all);
	await t.page.focus("#view-timeline .fold");
	await t.page.keyboard.press("Enter");
	assert.strictEqual(await t.page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "true");
	assert.strictEqual((await lanes(t)).slice(0, 3).join(), "large,large,:901");
	await t.page.click("#view-timeline .lane:has(.id:text-is(\"903\")) .name");
	assert.strictEqual(await samples(t), wanted.thread);
	assert.strictEqual((await t.fragment()).get("threads").split(".").length, 1);
	await t.page.click("#view-timeline .lane:has(.id:text-is(\"902\")) .name", { modifiers: ["Control"] });
	assert.strictEqual((await t.fragment()).get("threads").split(".").length, 2);
	assert.strictEqual(await samples(t), 2 * wanted.thread);
	await t.shot("lanes-chosen");
	await t.page.click("#head .chip button");
	assert.strictEqual(await samples(t), wanted.all);
}

const kinds = async (t) => {
	await openTab(t, "Tiers");
	await t.page.click("#view-tiers .choice >> text=Events");
	return t.page.evaluate(async () => {
		const told = await pp.happenings(globalThis.model ?? { groupOf: [] });
		const sums = {};
		const [kind, n] = ["kind", "count"].map((name) => told.columns.get("sums." + name));
		kind.forEach((k, i) => { sums[told.about.kinds[k].key] = (sums[told.about.kinds[k].key] ?? 0) + n[i]; });
		return { sums, about: told.about };
	});
};

async function events(t) {
	await t.open();
	const { sums, about } = await kinds(t);
	assert.strictEqual(sums.compiled, t.wanted.compiled);
	assert.strictEqual(sums.loaded ?? 0, t.wanted.loaded);
	assert.strictEqual(about.count, about.listed);
	const rows = await table(t, "Events");
	assert.strictEqual(rows.length, about.count);
	await t.page.click("#view-tiers .choice >> text=\"compiled\"");
	assert.strictEqual((await table(t, "Events")).length, sums.compiled);
	await t.shot("events");
	const often = await table(t, "Compiled most often");
	const numbers = often.map((row) => count(row[0]));
	assert.deepStrictEqual(numbers, [...numbers].sort((a, b) => b - a));
	for (const [name, times] of Object.entries(t.wanted.functions)) {
		const row = often.find((cells) => cells[4] === name);
		assert(row, `${name} is not among ${often.map((cells) => cells[4])}`);
		assert.strictEqual(count(row[0]), times, name);
	}
	await t.page.click("#view-tiers .tablehost:visible .name >> text=alpha work.js:2:15");
	assert.strictEqual((await t.fragment()).get("view"), "function");
	assert.strictEqual(await t.text("#view-function .details .whole"), "alpha work.js:2:15");
	assert.match(await t.text("#view-function .fates"), /compiled in turbofan/);
}

async function manyEvents(t) {
	await t.open();
	const { sums, about } = await kinds(t);
	const told = (sums.compiled ?? 0) + (sums.loaded ?? 0);
	assert(about.count >= told && told + about.untimed + about.earlier >= t.wanted.count, JSON.stringify({ sums, about, ...t.wanted }));
	assert(!sums.fell_back, "no code of .NET falls back");
	await t.shot("many-events");
}

// Samples show that a function went on in a lower tier: in the table, in the page of the function, on the axis.
async function falls(t) {
	await t.open();
	await openTab(t, "Tiers");
	const rows = await table(t, "Fell back");
	assert.deepStrictEqual(rows.map((row) => [row[0], row[1], row[4]]), [["1", "3", "alpha app.js:3:7"]]);
	assert.match(await t.text("#view-tiers .note"), /No runtime tells/);
	const events = await table(t, "Events");
	const fell = events.filter((row) => row[1] === "fell back (inferred)");
	// The last sample in the higher tier is at 38 ms, the first in the lower at 40; the first of all at 2.
	assert.deepStrictEqual(fell.map((row) => [row[0], row[2], row[3]]), [["36.0 ms – 38.0 ms", "turbofan → ignition", "alpha app.js:3:7"]]);
	await t.shot("falls");
	await t.page.click("#view-tiers .tablehost:visible .name >> nth=0");
	assert.match(await t.text("#view-function .fates .fell_back"), /fell back turbofan → ignition \(inferred\)/);
	const red = await t.page.$eval("#view-timeline .axis canvas", (canvas) => {
		const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 3);
		const xs = [];
		for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] > 120 && data[i + 1] < 90) xs.push(i / 4 % width / width);
		return xs.length ? [Math.min(...xs), Math.max(...xs)] : null;
	});
	assert(red && red[0] > 0.3 && red[1] < 0.5, `the mark is at ${red}`);
}

const listing = (t, label) => t.page.$$eval(`#view-function [aria-label="${label}"] tr[data-samples]`, (rows) =>
	rows.map((row) => ({ samples: Number(row.dataset.samples), cells: [...row.cells].map((cell) => cell.textContent) })));

function checkLines(rows, version) {
	const shown = {};
	for (const { samples, cells } of rows) if (samples) shown[cells[2]] = (shown[cells[2]] ?? 0) + samples;
	assert.deepStrictEqual(shown, version.lines);
	for (const { samples, cells } of rows) assert.strictEqual(cells[1], samples ? samples.toLocaleString("en-US") : "");
}

function checkCode(rows, version) {
	assert.strictEqual(rows.length, version.instructions.length);
	rows.forEach(({ samples, cells }, i) => {
		const [offset, n, text] = version.instructions[i];
		assert.strictEqual(samples, n);
		assert.strictEqual(cells[2], offset === null ? "" : offset.toString(16));
		assert(cells[3].startsWith(text), `${cells[3]}: ${text}`);
	});
	assert.strictEqual(rows.reduce((sum, row) => sum + row.samples, 0), version.samples);
}

// Versions, lines and instructions are those of `annotate --format json`.
async function functionCase(t) {
	const { wanted } = t;
	await t.open("#view=function");
	await t.page.waitForSelector("#view-function .versions");
	assert.strictEqual(await t.text("#view-function .details .whole"), wanted.versions[0].name);
	const rows = await t.rows("#view-function .versions");
	assert.deepStrictEqual(rows.map((row) => [row[1], count(row[3])]), wanted.versions.map((v) => [v.tier, v.samples]));
	checkLines(await listing(t, "Source lines"), wanted.versions[wanted.hottest]);
	checkCode(await listing(t, "Instructions"), wanted.versions[wanted.hottest]);
	await t.shot("function");
	for (const [i, version] of wanted.versions.entries()) {
		await t.page.click(`#view-function .versions tbody tr:nth-child(${i + 1}) button`);
		await t.settle();
		checkLines(await listing(t, "Source lines"), version);
		checkCode(await listing(t, "Instructions"), version);
	}
	await t.page.click("#view-function .choice >> text=\"Lines\"");
	assert.strictEqual(await t.page.locator("#view-function [aria-label=Instructions]").count(), 0);
	await t.page.click("#view-function .choice >> text=\"Instructions\"");
	assert.strictEqual(await t.page.locator("#view-function [aria-label=\"Source lines\"]").count(), 0);
	await t.page.click("#view-function .choice >> text=\"Lines and instructions\"");
	// A line and the instructions made of it are marked together.
	await t.page.click("#view-function [aria-label=\"Source lines\"] tr[data-samples] >> nth=0");
	const marked = await t.page.$$eval("#view-function [aria-label=Instructions] tr", (all) =>
		all.filter((row) => row.dataset.place).map((row) => [row.classList.contains("linked"), row.cells[4].textContent]));
	assert(marked.length && marked.every(([isLinked, line]) => isLinked === (line === "work.js:2")), String(marked.slice(0, 9)));
	// Counts of the whole run stay, and say so.
	await t.open("#view=function&from=100&to=200");
	await t.page.waitForSelector("#view-function .versions");
	assert.match(await t.text("#view-function .quiet"), /of the whole run/);
	// Another one is chosen.
	const other = await t.page.$eval("#view-function .pick", (pick) => pick.options[1].value);
	await t.page.selectOption("#view-function .pick", other);
	assert.strictEqual((await t.fragment()).get("selected"), other);
	await t.page.goBack();
	assert.strictEqual(await t.text("#view-function .details .whole"), wanted.versions[0].name);
}

async function inlined(t) {
	await t.open("#view=function");
	await t.page.waitForSelector("#view-function .versions");
	assert.strictEqual(await t.text("#view-function .details .whole"), t.wanted.name);
	checkLines(await listing(t, "Source lines"), t.wanted);
	checkCode(await listing(t, "Instructions"), t.wanted);
	await t.shot("function-java");
}

async function absent(t) {
	await t.open("#view=function");
	await t.page.waitForSelector("#view-function .versions");
	assert.strictEqual(await t.text("#view-function .details .whole"), t.wanted.with);
	const value = await t.page.$$eval("#view-function .pick option", (options, name) =>
		options.find((option) => option.textContent.endsWith(name)).value, t.wanted.without);
	await t.page.selectOption("#view-function .pick", value);
	await t.page.waitForSelector("#view-function .hint");
	assert.strictEqual(await t.text("#view-function .hint pre"), `polyperf annotate -i ${t.wanted.input} '${t.wanted.without}'`);
	assert.strictEqual((await t.rows("#view-function .versions")).length > 0, true);
	await t.shot("function-absent");
}

async function hostileViews(t) {
	await t.open("#view=tiers");
	for (const name of ["Events", "Compiled most often", "Fell back", "Time by tier"]) {
		await table(t, name);
		await t.settle();
		const bad = await t.page.evaluate(() => [...document.body.innerText].filter((c) => /[\u202a-\u202e\u2066-\u2069\u001b]/.test(c)).length);
		assert.strictEqual(bad, 0, name);
		assert(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
	}
	await table(t, "Events");
	await t.shot("hostile-events");
	await openTab(t, "Function");
	const values = await t.page.$$eval("#view-function .pick option", (options) => options.map((option) => option.value));
	for (const value of values) {
		await t.page.selectOption("#view-function .pick", value);
		await t.settle();
		assert(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), value);
	}
	assert.strictEqual(await t.page.evaluate(() => typeof globalThis.broken), "undefined");
	assert.strictEqual(await t.page.evaluate(() => document.querySelectorAll("img, iframe, b").length), 0);
}

// Dark, light, paper and a narrow window; nothing is wider than the window; axe-core looks at each table.
async function looksOfViews(t) {
	const faults = [];
	await t.open();
	for (const theme of ["light", "dark"])
		for (const [view, more] of [["tiers", "&share=1&what=events&kinds=4"], ["tiers", ""], ["function", "&listing=lines"]]) {
			await t.go(`#view=${view}&theme=${theme}&from=100&to=900&lanes=1${more}`);
			await t.page.waitForTimeout(100);
			await t.shot(`views-${view}${more.replace(/\W+/g, "-")}-${theme}`);
			faults.push(...(await t.complaints(theme === "dark")).map((text) => `${view}${more} ${theme}: ${text}`));
		}
	assert.deepStrictEqual(faults, []);
	for (const view of ["tiers", "function"]) {
		await t.go(`#view=${view}`);
		await t.page.emulateMedia({ media: "print" });
		await t.settle();
		await t.shot(`views-${view}-print`, { fullPage: true });
		await t.page.emulateMedia({ media: "screen" });
	}
	await t.page.setViewportSize({ width: 420, height: 800 });
	for (const view of ["tiers", "function"]) {
		await t.open(`#view=${view}`);
		assert(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} is too wide`);
		await t.shot(`views-${view}-narrow`);
	}
}

module.exports = {
	brush, drag, lanes: lanesCase, events, manyEvents, falls, function: functionCase, inlined, absent, hostileViews, looksOfViews,
};
