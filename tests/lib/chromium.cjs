// Debian's Chromium, driven by playwright-core, without a network.
//
//     const { browse } = require("./chromium.cjs"); // by its full path from elsewhere
//     browse(async (page, faults) => { await page.goto("file:///..."); ... });
//
// `faults` holds what the page complained of: errors, dialogs, requests that leave the machine. They
// are printed and end the process with exit code 1, as does what the function throws.
"use strict";
const { chromium } = require("playwright-core");

const FLAGS = [
	"--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
	"--disable-background-networking", "--disable-component-update",
	// WebGL without a graphics card.
	"--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];
const PATIENCE_MS = 120000; // a busy machine is no fault
const EXECUTABLE = process.env.CHROMIUM || "/usr/bin/chromium";

function listen(page, faults) {
	page.on("pageerror", (error) => faults.push(`page error: ${error.message}`));
	page.on("console", (message) => {
		if (message.type() === "error") faults.push(`console: ${message.text()}`);
	});
	page.on("dialog", (dialog) => {
		faults.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => {
		if (!/^(file|data|blob|about):|^http:\/\/(127\.0\.0\.1|localhost|\[::1\]):/.test(request.url()))
			faults.push(`request: ${request.url()}`);
	});
}

// options: those of playwright's newContext(): viewport, colorScheme, ...
async function browse(visit, options = {}) {
	const faults = [];
	const browser = await chromium.launch({ executablePath: EXECUTABLE, headless: true, args: FLAGS });
	try {
		const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
		const page = await context.newPage();
		page.setDefaultTimeout(PATIENCE_MS);
		listen(page, faults);
		await visit(page, faults);
	} catch (error) {
		faults.push(String(error.stack || error));
	}
	await browser.close();
	for (const fault of faults) console.error(`fault: ${fault}`);
	process.exitCode = faults.length ? 1 : 0;
}

module.exports = { browse, EXECUTABLE, FLAGS };
