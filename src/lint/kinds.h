/* kinds.h - the one list of what lint can find.
 *
 * X(ID, "name", SEVERITY, "what it means, and for whom"). The names appear in
 * findings and stay the same from version to version.
 */
#ifndef LINT_KINDS_H
#define LINT_KINDS_H

#define LINT_KIND_LIST(X)                                                                          \
	/* Any file. */                                                                            \
	X(EMPTY, "empty-file", ERROR, "the file holds nothing")                                    \
	X(GARBAGE, "garbage", ERROR,                                                               \
	  "bytes that are no record; readers that do not search stop "                             \
	  "here")                                                                                  \
	X(CUT, "cut-record", ERROR, "a record ends before its own size says")                      \
	X(TIME_BACK, "time-back", WARNING, "a record is stamped earlier than one before it")       \
	X(UNKNOWN, "unknown-record", NOTE, "a kind of record that this build does not know")       \
	/* jitdump: the header. */                                                                 \
	X(HEADER_SIZE, "header-size", WARNING,                                                     \
	  "the header's size is nonsense, or not 40: perf "                                        \
	  "misreads larger ones")                                                                  \
	X(VERSION, "version", WARNING, "not version 1: perf refuses the file")                     \
	X(FLAGS, "header-flags", WARNING, "flags that nobody defined: perf refuses the file")      \
	X(ARCH_TIME, "arch-time", NOTE,                                                            \
	  "stamps are ticks of the CPU's counter: perf needs its "                                 \
	  "conversion in the recording")                                                           \
	X(MACHINE, "elf-machine", WARNING,                                                         \
	  "no machine of this number: ELF files made from the "                                    \
	  "dump are for none")                                                                     \
	X(HEADER_CLOCK, "header-clock", NOTE,                                                      \
	  "the header's stamp is of another clock than the "                                       \
	  "records': do not use it")                                                               \
	X(NO_LOADS, "no-loads", NOTE, "the dump announces no code")                                \
	X(NO_CLOSE, "no-close", NOTE,                                                              \
	  "the last record is no CLOSE: the writer did not end well, "                             \
	  "or never writes one")                                                                   \
	X(AFTER_CLOSE, "after-close", WARNING,                                                     \
	  "records behind CLOSE: several processes wrote, "                                        \
	  "or some readers stop too early")                                                        \
	X(ZERO_TAIL, "zero-tail", WARNING,                                                         \
	  "zeros to the end of the file: room was reserved and "                                   \
	  "not filled")                                                                            \
	/* jitdump: code. */                                                                       \
	X(TIME_ZERO, "time-zero", NOTE, "a stamp of 0 is taken for: before the recording")         \
	X(TIME_FAR, "time-far", WARNING, "a stamp more than a day from the others: another clock") \
	X(INDEX, "code-index", WARNING,                                                            \
	  "one index for different code: perf inject names files "                                 \
	  "by it and overwrites one with the other")                                               \
	X(REPEATED, "repeated-load", WARNING,                                                      \
	  "the same load again: a child process wrote its "                                        \
	  "copy of a buffer")                                                                      \
	X(OVERLAP, "overlap", NOTE,                                                                \
	  "code over other code, which nobody unloaded: only times "                               \
	  "tell them apart")                                                                       \
	X(NO_CODE, "no-code", WARNING,                                                             \
	  "fewer code bytes than code_size: nothing to disassemble, "                              \
	  "and perf reads the next records for code")                                              \
	X(CODE_RANGE, "code-range", WARNING, "no address, no size, or beyond the address space")   \
	X(THREAD, "thread-id", NOTE, "larger than any thread id: a truncated pthread_t")           \
	X(PROCESS, "process-id", NOTE,                                                             \
	  "another process than the header's: a child wrote into "                                 \
	  "its parent's dump")                                                                     \
	X(VMA, "vma", NOTE, "vma and code_addr differ: readers that take vma find nothing")        \
	X(MOVE, "move", WARNING, "a move of code that no LOAD announced")                          \
	X(UNLOAD, "unload", WARNING, "an unload of code that no LOAD announced, or that had gone") \
	X(PADDING, "padding", NOTE,                                                                \
	  "room that was reserved and not filled: the writer was killed, "                         \
	  "or still runs")                                                                         \
	X(EXTENSION, "extension", WARNING,                                                         \
	  "a record of our own whose parts contradict each other")                                 \
	X(UNWINDING, "unwinding", WARNING, "sizes of unwinding data that contradict each other")   \
	/* jitdump: lines. */                                                                      \
	X(BIAS, "line-bias", WARNING,                                                              \
	  "every line's address is 0x40 too high, as V8 and LLVM "                                 \
	  "write them: perf shows the wrong lines")                                                \
	X(DAMAGED_FILE, "damaged-file-name", ERROR, "file names of lines are overwritten")         \
	X(LINES_CUT, "lines-cut", ERROR, "fewer line entries than the record says")                \
	X(LINES_ORPHAN, "lines-orphan", WARNING,                                                   \
	  "line or unwinding records whose LOAD does not "                                         \
	  "follow: perf gives them to the next one")                                               \
	X(LINES_OUTSIDE, "lines-outside", NOTE, "lines before or behind their code")               \
	/* Names, of jitdump and perf map. */                                                      \
	X(NAME_EMPTY, "empty-name", WARNING, "code without a name")                                \
	X(NAME_NEWLINE, "newline-in-name", WARNING, "written to a perf map, it forges a line")     \
	X(NAME_CONTROL, "control-in-name", WARNING, "control bytes: terminals obey them")          \
	X(NAME_BYTES, "name-not-utf8", NOTE, "the name is not UTF-8: some tools refuse the file")  \
	/* perf map. */                                                                            \
	X(NO_ENTRY, "no-entry", ERROR, "a line that is no entry: its code has no name")            \
	X(CUT_LINE, "cut-line", WARNING, "the last line has no end: its name may be cut")          \
	X(HUGE, "huge-entry", WARNING, "one entry over very much: forged, or a whole region")      \
	X(TWO_IN_ONE, "two-in-one-line", WARNING,                                                  \
	  "a name that looks as if the next line's entry "                                         \
	  "were in it: a newline was lost")                                                        \
	X(TWO_NAMES, "two-names", WARNING,                                                         \
	  "two names for one address: perf takes the first, "                                      \
	  "others the last")                                                                       \
	X(MAP_OVERLAP, "map-overlap", WARNING, "entries that overlap: an address has two owners")  \
	X(DUPLICATE, "duplicate-line", NOTE, "the same entry again")                               \
	X(UNSORTED, "unsorted", NOTE, "entries do not ascend; only some tools need it")            \
	X(SIZE_ZERO, "zero-size", NOTE, "an entry without a size covers nothing")                  \
	X(NAME_NULL, "null-name", NOTE, "the name is \"(null)\": the runtime printed a NULL")      \
	X(CRLF, "crlf", NOTE, "lines end in CR LF: some tools keep the CR in the name")            \
	/* The times beside a perf map. */                                                         \
	X(TIMES_LINE, "times-line", ERROR, "a line of times that goes back or is none")            \
	/* perf.data. */                                                                           \
	X(RECORD, "bad-record", ERROR, "records that contradict themselves, passed over")          \
	X(INTERRUPTED, "interrupted", ERROR,                                                       \
	  "the file was never finished: its header is as at "                                      \
	  "the start")                                                                             \
	X(LOST, "lost-samples", ERROR, "the kernel had no room for some records")                  \
	X(THROTTLED, "throttled", WARNING, "sampling stood still: it cost too much time")          \
	X(ORDER, "order", WARNING,                                                                 \
	  "a record older than a round that was finished: perf sorts it "                          \
	  "wrongly")                                                                               \
	X(CLOCK, "clock", WARNING,                                                                 \
	  "samples are not of CLOCK_MONOTONIC: jitdumps cannot be "                                \
	  "joined (perf record -k mono)")                                                          \
	X(NO_TIMES, "no-times", WARNING,                                                           \
	  "samples or mappings carry no time: what was where, and "                                \
	  "when, cannot be told")                                                                  \
	X(BPF, "bad-bpf", ERROR,                                                                   \
	  "what is told of a BPF program contradicts itself, or ends early: code or lines are "    \
	  "missing")                                                                               \
	X(BPF_LINES, "bpf-lines", NOTE,                                                            \
	  "lines of a BPF program that name no file: its BTF is not there, or damaged")            \
	X(NEWER, "newer-attr", NOTE,                                                               \
	  "an attr larger than this build knows: older perfs refuse it")                           \
	/* Event streams of .NET. */                                                               \
	X(DROPPED, "dropped-events", ERROR,                                                        \
	  "the process had no room for some of its events: methods or lines are missing")          \
	X(EVENT, "bad-event", ERROR, "an event of the runtime that is shorter than what it tells") \
	X(NO_END, "no-end", NOTE,                                                                  \
	  "the stream has no end: its process was killed, or still runs; what was there at the "   \
	  "end is not told")

enum lint_kind {
#define X(id, name, severity, meaning) LINT_##id,
	LINT_KIND_LIST(X)
#undef X
	    LINT_KIND_COUNT,
};

#endif
