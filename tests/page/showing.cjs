// Cases: how the page looks, to eyes and to screen readers, on the screen and on paper.
"use strict";
const assert = require("assert");

const views = (t) => t.page.$$eval("#tabs .tab", (tabs) => tabs.map((tab) => tab.textContent));

// The share of the canvas's pixels that are lighter than the middle.
const lightness = (t) => t.page.$eval("#view-flame canvas", (canvas) => {
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	let light = 0;
	for (let i = 0; i < data.length; i += 4) light += data[i] + data[i + 1] + data[i + 2] > 384;
	return light / (data.length / 4);
});

async function looks(t) {
	await t.page.emulateMedia({ colorScheme: "dark" });
	await t.open();
	assert(await lightness(t) < 0.2);
	await t.shot("dark");
	await t.page.emulateMedia({ colorScheme: "light" });
	await t.settle();
	assert(await lightness(t) > 0.8);
	await t.page.click("#theme"); // from the system's to dark
	await t.settle();
	assert(await lightness(t) < 0.2);
	await t.page.emulateMedia({ media: "print", colorScheme: "dark" });
	await t.settle();
	assert(await lightness(t) > 0.8, "paper is light");
	assert(!await t.page.locator("#tabs").isVisible());
	await t.shot("print", { fullPage: true });
	assert((await t.page.pdf()).length > 10000);
	await t.page.emulateMedia({ media: "screen" });
	await t.settle();
	assert(await lightness(t) < 0.2);
	await t.page.setViewportSize({ width: 420, height: 800 });
	await t.settle();
	assert(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "a narrow window is not scrolled sideways");
	await t.shot("narrow");
}

// Colours mean what the legend says, and their texts can be read: 4.5 to 1 at least.
async function colours(t) {
	const luminance = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	await t.open();
	for (const theme of ["light", "dark"])
		for (const colour of ["tier", "runtime", "module", "trust"]) {
			await t.page.evaluate((state) => pp.state.set(state), { theme, colour });
			await t.settle();
			const legend = await t.page.evaluate(() => pp.colours.legend().map(({ fill, ink, title }) => {
				const c = document.createElement("canvas").getContext("2d");
				return [fill, ink, title].map((colour, i) => {
					if (i === 2) return colour;
					c.fillStyle = colour;
					c.fillRect(0, 0, 1, 1);
					return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3);
				});
			}));
			const shown = await t.page.$$eval("#view-flame .legend li", (items) => items.map((item) => item.textContent));
			assert.deepStrictEqual(shown, legend.map(([, , title]) => title));
			assert(shown.length > 0 && new Set(shown).size === shown.length, `${colour}: ${shown}`);
			for (const [fill, ink, title] of legend) {
				const [a, b] = [luminance(fill), luminance(ink)];
				const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				assert(contrast >= 4.5, `${theme} ${colour} ${title}: ${contrast}`);
			}
			await t.shot(`colour-${colour}-${theme}`);
		}
}

// axe-core finds nothing serious or critical in any view.
async function accessible(t) {
	const found = [];
	await t.open();
	for (const theme of ["light", "dark"]) {
		await t.page.evaluate((chosen) => pp.state.set({ theme: chosen }), theme);
		for (const view of await views(t)) {
			await t.page.click(`#tabs >> text="${view}"`);
			await t.settle();
			await t.shot(`view-${view.toLowerCase().replace(/\W+/g, "-")}-${theme}`);
			found.push(...(await t.complaints(theme === "dark")).map((text) => `${theme} ${view}: ${text}`));
		}
	}
	assert.deepStrictEqual(found, []);
}

// Two recordings: what grew is red, what shrank blue, functions are found again, noise is told.
async function difference(t) {
	await t.open();
	assert.strictEqual(await t.page.title(), `${t.wanted.title} – polyperf`);
	await t.shot("diff");
	const rows = await t.functions();
	for (const [name, change, before, after] of t.wanted.rows) {
		const row = rows.find((one) => one[6] === name);
		assert(row, `${name} is not there`);
		assert.deepStrictEqual(row.slice(0, 3), [change, before, after], name);
	}
	await t.shot("diff-functions");
	const shown = await t.page.$$eval("#view-flame .legend li", (items) => items.map((item) => item.textContent));
	assert.deepStrictEqual(shown, ["more than before", "as before", "less than before"]);
	await t.page.click("#tabs >> text=Call tree");
	assert.deepStrictEqual(await t.page.$$eval("#view-tree th", (heads) => heads.map((head) => head.textContent)),
		["Before", "After", "Function", "Object"]);
}

module.exports = { looks, colours, accessible, difference };
