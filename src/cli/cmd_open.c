/* cmd_open.c - `polyperf open`: a recording as a page, in the browser. */
#include "cli/command.h"
#include "cli/load_args.h"
#include "cli/message.h"
#include "cli/page_diff.h"
#include "cli/page_functions.h"
#include "cli/page_run.h"
#include "cli/parse.h"
#include "os/serve.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { KEY_NO_BROWSER = 256, KEY_PORT, KEY_FUNCTIONS };

struct open_args {
	struct load_args load;
	const char *second; /* NULL: one recording */
	const char *output; /* NULL: serve it */
	uint32_t functions;
	uint16_t port;
	bool no_browser;
};

static const struct argp_option options[] = {
	LOAD_ARGS_OPTIONS,
	{ .doc = "Where the page goes:" },
	{ "output", 'o', "FILE", 0, "write it to this file, and start no browser", 0 },
	{ "no-browser", KEY_NO_BROWSER, NULL, 0, "print the page's address, and start none", 0 },
	{ "port", KEY_PORT, "N", 0, "of the loopback address; default any that is free", 0 },
	{ "functions", KEY_FUNCTIONS, "N", 0,
	  "how many functions it shows by instruction and line, those with most samples; "
	  "default 30",
	  0 },
	LOAD_ARGS_NAMES,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct open_args *a = state->input;
	uint32_t port;
	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case KEY_NO_BROWSER:
		a->no_browser = true;
		return 0;
	case KEY_PORT:
		if (!parse_u32(arg, &port) || port > UINT16_MAX)
			argp_error(state, "--port takes a number up to 65535: %s", arg);
		a->port = (uint16_t)port;
		return 0;
	case KEY_FUNCTIONS:
		a->functions = page_functions_parse(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!a->load.options.input)
			a->load.options.input = arg;
		else if (!a->second)
			a->second = arg;
		else
			argp_error(state, "takes one recording, or two to compare");
		return 0;
	default:
		return load_args_parse(&a->load, key, arg, state);
	}
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

/* $BROWSER, or what the desktop opens pages with. What it prints is not for our terminal. */
static bool start_browser(const char *url)
{
	const char *browser = getenv("BROWSER");
	if (!browser || !*browser) {
		if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
			return false;
		browser = "xdg-open";
	}
	char *const argv[] = { (char *)(uintptr_t)browser, (char *)(uintptr_t)url, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd ? 1 : 0, 0);
	posix_spawnattr_init(&attributes);
	/* Of its own group: the Ctrl-C that ends us leaves it alone. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	pid_t pid;
	const int got = posix_spawnp(&pid, browser, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return got == 0;
}

/* Until Ctrl-C, or the terminal's end. */
static int serve_page(const struct open_args *a, const struct sink *page)
{
	static const char file[] = "polyperf.html";
	struct os_serve *serve;
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	const int stop = signalfd(-1, &ends, SFD_CLOEXEC);
	if (stop < 0 || os_serve_open(&serve, a->port) < 0) {
		message_error("no server on the loopback address: %s", strerror(errno));
		if (stop >= 0)
			close(stop);
		return page_run_write(page, file);
	}
	int status = EXIT_OK;
	if (!a->no_browser && !start_browser(os_serve_url(serve))) {
		message_note("there is no browser to start");
		status = page_run_write(page, file);
	} else {
		printf("%s\n", os_serve_url(serve));
		fflush(stdout);
		message_note("Ctrl-C ends it");
		if (os_serve_run(serve, sink_bytes(page), stop) < 0)
			status = EXIT_INPUT;
	}
	os_serve_close(serve);
	close(stop);
	return status;
}

static int make(struct open_args *a, struct sink *page)
{
	if (!a->second)
		return page_run_make(&(struct page_args){ &a->load, a->functions }, page);
	const char *const before = a->load.options.input;
	const struct page_diff diff = { &a->load, { &before, &a->second }, { 1, 1 } };
	a->load.has_others = true;
	return page_diff_make(&diff, page);
}

static int run(int argc, char **argv)
{
	struct open_args a = { .functions = PAGE_FUNCTIONS_DEFAULT };
	command_parse(&cmd_open, argc, argv, &a);
	struct sink page = { 0 };
	int status = make(&a, &page);
	if (status == EXIT_OK)
		status = a.output ? page_run_write(&page, a.output) : serve_page(&a, &page);
	sink_clear(&page);
	load_args_clear(&a.load);
	return status;
}

const struct command cmd_open = {
	.name = "open",
	.summary = "look at a recording in a browser",
	.usages = (const char *const[]){ "[OPTION...] [FILE]", "[OPTION...] BEFORE AFTER", NULL },
	.description =
	    "Makes the page of `polyperf report --html` and starts a browser on it: what "
	    "`$BROWSER` says, or the desktop's own. The page comes from an address of this machine "
	    "that nobody else knows and that nothing outside can reach, until Ctrl-C. Where there "
	    "is no browser it is written to `polyperf.html`.\n\n"
	    "The page has all it needs in it, and asks for nothing else. Of two recordings it "
	    "shows "
	    "how they differ.",
	.options = options,
	.sections =
	    (const struct command_section[]){
		{ "Environment", "`BROWSER`: the program that is started with the page's address; "
				 "default `xdg-open`, where there is a display." },
		{ 0 },
	    },
	.examples =
	    (const struct command_example[]){
		{ "polyperf open", "The recording in perf.data." },
		{ "polyperf open -o app.html app.data", "A file to pass on." },
		{ "polyperf open --no-browser --port 8000",
		  "On a machine that you reach through `ssh -L 8000:localhost:8000`." },
		{ 0 },
	    },
	.parse = parse,
	.run = run,
};
