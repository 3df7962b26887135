/* One row a variable; docs/runtimes.md tells the same to users. To add a runtime:
 * rows here, its name in NAMES below, the words that give it away in
 * runtimes_command.c, and how it is found in runtimes_find.c.
 */
#include "record/runtimes.h"
#include "record/runtimes_internal.h"

#include <string.h>

static const char *const NAMES[] = { "node", "deno",   "bun",    "java",   "dotnet", "mono",
				     "php",  "erlang", "python", "luajit", "ruby",   "llvm" };

const char *runtimes_name(size_t index)
{
	return index < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[index] : NULL;
}

const struct runtimes_row RUNTIMES_ROWS[] = {
	/* V8 keeps up to 2 MB of its jitdump in memory, which a signal takes with it; lines of
	 * its map are written as they come.
	 */
	{ "node", "NODE_OPTIONS", "--perf-prof --perf-basic-prof --interpreted-frames-native-stack",
	  NULL, "names, code and lines of JavaScript, compiled or not, in a jitdump and a perf map",
	  FACT_CWD_MAPPABLE, JOIN_WORDS },
	{ "node", "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", NULL,
	  "names of JavaScript functions, compiled or not, in a perf map", FACT_CWD_PLAIN,
	  JOIN_WORDS },

	{ "deno", "DENO_V8_FLAGS",
	  "--perf-prof,--perf-prof-path=%,--perf-basic-prof,--interpreted-frames-native-stack,"
	  "--no-logfile-per-isolate,--logfile=%/v8.log",
	  NULL, "names, code and lines of JavaScript, compiled or not, in a jitdump and a perf map",
	  FACT_DIRECTORY, JOIN_COMMAS },

	{ "bun", "BUN_JSC_useJITDump", "1", NULL, "names and code of JavaScript in a jitdump",
	  FACT_DIRECTORY, JOIN_WHOLE },
	{ "bun", "BUN_JSC_jitDumpDirectory", "%", NULL, "where the jitdump goes", FACT_DIRECTORY,
	  JOIN_WHOLE },

	/* Of all that a JVM takes only an agent is fatal where it cannot be loaded. */
	{ "java", "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer -agentpath:@=dir=%", NULL,
	  "names, tiers, code, lines and inlined calls of methods in a jitdump, whole stacks",
	  FACT_JVM_AGENT | FACT_DIRECTORY | FACT_FRAME_POINTERS, JOIN_WORDS },
	/* Only in dumped stacks can be seen what the interpreter runs. */
	{ "java", "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
	  "-agentpath:@=dir=%,interpreted=on",
	  NULL,
	  "names, tiers, code, lines and inlined calls of methods in a jitdump, names and lines of "
	  "what is interpreted",
	  FACT_JVM_AGENT | FACT_DIRECTORY | FACT_UNWIND_TABLES, JOIN_WORDS },
	{ "java", "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions "
	  "-XX:+DumpPerfMapAtExit -XX:+PreserveFramePointer",
	  NULL, "names of compiled methods in a perf map at exit (17 and newer), whole stacks",
	  FACT_NO_JVM_AGENT, JOIN_WORDS },

	{ "dotnet", "DOTNET_PerfMapEnabled", "1", NULL,
	  "names and code of methods in a jitdump and a perf map", 0, JOIN_WHOLE },
	{ "dotnet", "DOTNET_PerfMapStubGranularity", "2", NULL,
	  "keeps .NET 10 from ending its jitdump at the first block of stubs", 0, JOIN_WHOLE },
	{ "dotnet", "DOTNET_PerfMapJitDumpPath", "%", NULL, "where jitdump and map go",
	  FACT_DIRECTORY, JOIN_WHOLE },
	{ "dotnet", "COMPlus_PerfMapEnabled", "1", NULL, "the same for .NET Core before 6", 0,
	  JOIN_WHOLE },
	{ "dotnet", "DOTNET_EnableEventPipe", "1", NULL,
	  "source lines and inlined methods, in a stream of events",
	  FACT_DIRECTORY | FACT_EVENT_PIPE, JOIN_WHOLE },
	{ "dotnet", "DOTNET_EventPipeConfig", RUNTIMES_CLR_EVENTS, NULL, "which events",
	  FACT_DIRECTORY | FACT_EVENT_PIPE, JOIN_WHOLE },
	{ "dotnet", "DOTNET_EventPipeOutputPath", "%/clr-{pid}.nettrace", NULL, "where they go",
	  FACT_DIRECTORY | FACT_EVENT_PIPE, JOIN_WHOLE },
	{ "dotnet", "DOTNET_RichDebugInfo", "1", NULL,
	  "keeps what the JIT knows of inlined methods", FACT_DIRECTORY | FACT_EVENT_PIPE,
	  JOIN_WHOLE },
	/* Else the file has nothing until the process ends, and no more than fits its buffer. */
	{ "dotnet", "DOTNET_EventPipeOutputStreaming", "1", NULL, "writes them as they come",
	  FACT_DIRECTORY | FACT_EVENT_PIPE, JOIN_WHOLE },

	{ "mono", "MONO_ENV_OPTIONS", "--jitmap", NULL, "names of compiled methods in a perf map",
	  0, JOIN_WORDS },

	{ "php", "PHP_INI_SCAN_DIR", "%", NULL,
	  "turns the JIT of the command line on; its code in a jitdump and a perf map",
	  FACT_DIRECTORY, JOIN_DIRECTORIES },

	{ "erlang", "ERL_FLAGS", "+JPperf true", "+JPperf",
	  "names, code and lines in a jitdump and a perf map, whole stacks", FACT_ERLANG,
	  JOIN_WORDS },

	{ "python", "PYTHONPERFSUPPORT", "1", NULL,
	  "a frame of its own for every function, named in a perf map (3.12 and newer)",
	  FACT_TRAMPOLINES, JOIN_WHOLE },
	{ "python", "PYTHON_PERF_JIT_SUPPORT", "1", NULL,
	  "the same in a jitdump with unwind tables (3.13 and newer)",
	  FACT_TRAMPOLINES | FACT_UNWIND_TABLES, JOIN_WHOLE },

	{ "python", "LD_PRELOAD", "^", NULL,
	  "functions and lines at each sample in user space, read by an agent, without privilege",
	  FACT_PYTHON_AGENT | FACT_DIRECTORY, JOIN_WORDS },
	{ "python", "POLYPERF_AGENT", "%/agents", NULL, "where the agent finds the recorder",
	  FACT_PYTHON_AGENT | FACT_DIRECTORY, JOIN_WHOLE },

	/* Its runtime insists on being the first of the libraries. */
	{ "python", "ASAN_OPTIONS", "verify_asan_link_order=0", "verify_asan_link_order",
	  "programs with GCC's AddressSanitizer would refuse to run beside it",
	  FACT_PYTHON_AGENT | FACT_DIRECTORY, JOIN_WORDS },

	{ "luajit", "LUA_INIT",
	  "if jit then local f = loadfile('%/luajit.lua') if f then f('%') end end", NULL,
	  "names of traces in a perf map, written by a script of ours that other Luas pass over",
	  FACT_DIRECTORY, JOIN_LUA },

	{ "ruby", "RUBY_YJIT_ENABLE", "1", NULL, "turns YJIT on, whose code can be named",
	  FACT_RUBY, JOIN_WHOLE },
	/* By itself 3.1 fills 256 MB at every start, later ones 64. */
	{ "ruby", "RUBYOPT", "--yjit-exec-mem-size=64 -r%/ruby.rb", NULL,
	  "names of YJIT's code in a perf map at exit, written by a script of ours",
	  FACT_RUBY_31 | FACT_DIRECTORY, JOIN_WORDS },
	{ "ruby", "RUBYOPT", "-r%/ruby.rb", NULL,
	  "the same, should this be Ruby 3.1: the script looks", FACT_RUBY_UNKNOWN | FACT_DIRECTORY,
	  JOIN_WORDS },
	{ "ruby", "RUBYOPT", "--yjit-perf", NULL, "names of YJIT's code in a perf map",
	  FACT_RUBY_PERF, JOIN_WORDS },

	{ "llvm", "JITDUMPDIR", "%", NULL,
	  "where LLVM's JIT (lli) and JVM agents put the jitdumps that they write", FACT_DIRECTORY,
	  JOIN_WHOLE },
};

const size_t RUNTIMES_ROW_COUNT = sizeof(RUNTIMES_ROWS) / sizeof(RUNTIMES_ROWS[0]);

const char *runtimes_obstacle(const char *runtime, uint32_t facts)
{
	if (strcmp(runtime, "node") == 0)
		return facts & (FACT_CWD_MAPPABLE | FACT_CWD_PLAIN)
			   ? NULL
			   : "the current directory cannot be written, and it would print its "
			     "own log among the output";
	if (strcmp(runtime, "erlang") == 0)
		return facts & FACT_ERLANG ? NULL : "no erl of OTP 25 or newer is in $PATH";
	if (strcmp(runtime, "ruby") == 0)
		return facts & FACT_RUBY ? NULL : "no ruby of 3.1 or newer is in $PATH";
	return facts & FACT_DIRECTORY ? NULL : "there is no private directory for its dumps";
}
