// How soon Chromium shows a page: page.cjs FILE prints {seconds, brush, heap_mb}, of three runs.
"use strict";
const path = require("path");
const { browse } = require(path.join(__dirname, "../tests/lib/chromium.cjs"));

const file = `file://${path.resolve(process.argv[2])}`;

browse(async (page) => {
	const found = { seconds: [], brush: [], heap_mb: 0 };
	for (let run = 0; run < 3; run++) {
		await page.goto("about:blank");
		await page.goto(file);
		await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 120000 });
		const [seconds, brush, heap] = await page.evaluate(() => {
			const start = performance.now();
			pp.state.set({ from: 300, to: 900 });
			return [performance.getEntriesByName("polyperf-picture")[0].startTime / 1000,
				(performance.now() - start) / 1000, performance.memory.usedJSHeapSize / 1e6];
		});
		found.seconds.push(seconds);
		found.brush.push(brush);
		found.heap_mb = heap;
	}
	console.log(JSON.stringify(found));
});
