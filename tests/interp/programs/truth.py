"""Logs which function and line ran when: truth.py LOG SECONDS, of CPU time for each case

A line of the log is an interval: case, thread, begin, end (CLOCK_MONOTONIC, ns), and the stacks that
may be seen in it, innermost frame first, `|` between them. A frame is FUNCTION@MARK, where the
line is the one that ends with the comment @MARK, FUNCTION:LINE or FUNCTION:LINE=FILE; `...` is any more frames. Stamps
stay in memory until the end, so that nothing but the code in question runs in an interval.
"""
import ctypes
import functools
import os
import re
import signal
import sys
import threading
import time
import zlib

clock = time.monotonic_ns
cpu = time.process_time  # how long cases run: a busy machine must not make them fewer samples
SECONDS = float(sys.argv[2])
N = 25000  # a loop takes one to three milliseconds
rows = []
name = ""
base = "run@run <module>@main"


def log(begin, end, *stacks):
    rows.append((name, threading.get_native_id(), begin, end, base, stacks))


def write(path):
    with open(path, "w") as out:
        for case, tid, begin, end, below, stacks in rows:
            whole = (stack if stack.endswith("...") else f"{stack} {below}" for stack in stacks)
            out.write(f"{case}\t{tid}\t{begin}\t{end}\t{'|'.join(whole)}\n")


def case_lines():
    begin = clock()
    for i in range(N): x = i * i  # @for
    log(begin, clock(), "case_lines@for")
    n = N
    begin = clock()
    while n: n -= 1  # @while
    log(begin, clock(), "case_lines@while")
    begin = clock()
    x = (n +
         sum(range(4 * N)) +  # @operand
         n)
    log(begin, clock(), "case_lines@operand")
    begin = clock()
    x = sum(  # @call
        range(
            4 * N
        )
    )
    log(begin, clock(), "case_lines@call")
    begin = clock()
    x = [i * i for i in range(N)]  # @list
    end = clock()
    inlined = sys.version_info >= (3, 12)
    log(begin, end, "case_lines@list" if inlined else "case_lines.<locals>.<listcomp>@list case_lines@list")
    begin = clock()
    x = sum(i * i for i in range(N))  # @sum
    log(begin, clock(), "case_lines.<locals>.<genexpr>@sum case_lines@sum", "case_lines@sum")
    begin = clock()
    x = sorted(range(N), key=lambda v: -v)  # @lambda
    log(begin, clock(), "case_lines.<locals>.<lambda>@lambda case_lines@lambda", "case_lines@lambda")

    class Body:  # @body
        begin = clock()
        for i in range(N): x = i * i  # @class
        log(begin, clock(), "case_lines.<locals>.Body@class case_lines@body")


# Functions whose lines are far apart, before and behind each other: all that line tables can say.
def scattered_source(first):
    text = ["\n" * (first - 2), "def scattered(clock, log, n):\n"]
    line = first
    for i in range(24):
        gap = (1, 2, 7, 40, 130, 300, 3, 1)[i % 8]
        text.append(f"    begin = clock()\n{chr(10) * gap}    for i in range(n): x = i * {i}\n"
                    f"    log(begin, clock(), 'scattered:{line + 1 + gap} case_scattered@scattered')\n")
        line += 3 + gap
        if i % 8 == 5:  # more instructions than one byte counts, on one line
            text.append("    x = " + " + ".join(["i"] * 200) + "\n")
            line += 1
        if i % 8 == 7:  # an argument is below its call
            text.append(f"    begin = clock()\n    x = sum(\n{chr(10) * 200}        range(4 * n))\n"
                        f"    log(begin, clock(), 'scattered:{line + 1} case_scattered@scattered')\n")
            line += 204
    return "".join(text)


scattered = {}
exec(compile(scattered_source(500), "<scattered>", "exec"), scattered)


def case_scattered():
    scattered["scattered"](clock, log, N // 2)  # @scattered


numbers = iter(range(10**9))


def case_made():
    """Code that is made, run once and thrown away, so that the next has its place."""
    number = next(numbers)
    line = number % 300 + 2
    space = {}
    exec(compile("\n" * (line - 2) + f"def fn_{number}(n):\n    for i in range(n): x = i * i\n",
                 f"<made {number}>", "exec"), space)
    run = space[f"fn_{number}"]
    begin = clock()
    run(N // 2)  # @made
    log(begin, clock(), f"fn_{number}:{line} case_made@made")
    del space, run
    code = compile("\n" * (number % 90) + "for i in range(N): x = i * i\n", "<string>", "exec")
    begin = clock()
    exec(code)  # @exec
    log(begin, clock(), f"<module>:{number % 90 + 1} case_made@exec")


def case_again():
    """The same, with nothing but one thing that differs: where the loop is, the file, the class."""
    number = next(numbers)
    gap = number * 37 % 90 + 1
    made = f"def again(n):{chr(10) * gap}    for i in range(n): x = i * i\n"
    again(made, "<same>", "again", f"again:{gap + 1}=<same>")
    made = "def again(n):\n    for i in range(n): x = i * i\n"
    again(made, f"<same {number % 10}>", "again", f"again:2=<same~{number % 10}>")
    made = f"class C{number % 10}:\n    def again(n):\n        for i in range(n): x = i * i\n"
    again(made, "<same>", f"C{number % 10}", f"C{number % 10}.again:3=<same>")


def again(text, file, name, frame):
    space = {}
    exec(compile(text, file, "exec"), space)
    run = space[name].again if "." in frame else space[name]
    begin = clock()
    run(N // 2)  # @again
    log(begin, clock(), f"{frame} again@again ...")


def generator(n):
    for i in range(n):
        begin = clock()
        for k in range(N): x = k * k  # @generator
        log(begin, clock(), "generator@generator case_generators@next")
        yield i


def inner(n):
    begin = clock()
    for k in range(N): x = k * k  # @inner
    log(begin, clock(), "inner@inner outer@from case_generators@through")
    yield n


def outer(n):
    yield from inner(n)  # @from


async def awaited():
    begin = clock()
    for k in range(N): x = k * k  # @awaited
    log(begin, clock(), "awaited@awaited awaiting@await case_generators@send")


async def awaiting():
    await awaited()  # @await


def case_generators():
    for i in generator(3):  # @next
        pass
    begin = clock()
    for i in range(N): x = i * i  # @between
    log(begin, clock(), "case_generators@between")
    list(outer(1))  # @through
    try:
        awaiting().send(None)  # @send
    except StopIteration:
        pass


def down(depth, levels):
    if depth:
        return down(depth - 1, levels)  # @down
    begin = clock()
    for i in range(N): x = i * i  # @bottom
    return log(begin, clock(), " ".join(["down@bottom"] + ["down@down"] * levels + ["case_recursion@dive"]))


def even(depth, levels):
    if depth:
        return odd(depth - 1, levels)  # @even
    begin = clock()
    for i in range(N): x = i * i  # @zero
    return log(begin, clock(), " ".join(["even@zero"] + ["odd@odd", "even@even"] * levels
                                        + ["case_recursion@alternate"]))


def odd(depth, levels):
    return even(depth - 1, levels)  # @odd


def case_recursion():
    for levels in (1, 5, 30, 200):
        down(levels, levels)  # @dive
        even(2 * levels, levels)  # @alternate


def by_key(value):
    begin = clock()
    for i in range(N): x = i * i  # @key
    log(begin, clock(), "by_key@key case_callbacks@sorted")
    return value


def by_comparison(a, b):
    begin = clock()
    for i in range(N): x = i * i  # @comparison
    log(begin, clock(), "by_comparison@comparison case_callbacks@sort")
    return a - b


def mapped(value):
    begin = clock()
    for i in range(N): x = i * i  # @mapped
    log(begin, clock(), "mapped@mapped case_callbacks@map")
    return value


def replaced(match):
    begin = clock()
    for i in range(N): x = i * i  # @replaced
    log(begin, clock(), "replaced@replaced ...")  # re is written in Python, too
    return "b"


class Thing:
    def __add__(self, other):
        begin = clock()
        for i in range(N): x = i * i  # @add
        log(begin, clock(), "Thing.__add__@add case_callbacks@plus")
        return self

    def __del__(self):
        begin = clock()
        for i in range(N): x = i * i  # @del
        log(begin, clock(), "Thing.__del__@del case_callbacks@delete")

    @property
    def value(self):
        begin = clock()
        for i in range(N): x = i * i  # @property
        log(begin, clock(), "Thing.value@property case_callbacks@get")
        return 1

    def __iter__(self):
        return self

    def __next__(self):
        begin = clock()
        for i in range(N): x = i * i  # @step
        log(begin, clock(), "Thing.__next__@step case_callbacks@iterate")
        raise StopIteration


def compared(a, b):
    begin = clock()
    for i in range(N): x = i * i  # @compared
    log(begin, clock(), "compared@compared case_callbacks@qsort")
    return a[0] - b[0]


libc = ctypes.CDLL(None)
TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
compare = TYPE(compared)


def case_callbacks():
    sorted((2, 1), key=by_key)  # @sorted
    [2, 1].sort(key=functools.cmp_to_key(by_comparison))  # @sort
    list(map(mapped, (1, 2)))  # @map
    re.sub("a", replaced, "a")
    array = (ctypes.c_int * 2)(2, 1)
    libc.qsort(array, 2, 4, compare)  # @qsort
    thing = Thing()
    thing + thing  # @plus
    thing.value  # @get
    for _ in thing:  # @iterate
        pass
    del thing  # @delete
    begin = clock()
    x = zlib.crc32(b"abcdefgh" * 400000)  # @crc
    log(begin, clock(), "case_callbacks@crc")


def throw(depth):
    if depth:
        throw(depth - 1)
    raise ValueError(depth)


def thrown_into():
    try:
        yield 1
    except ValueError:
        begin = clock()
        for i in range(N): x = i * i  # @into
        log(begin, clock(), "thrown_into@into case_exceptions@throw")
    yield 2


class Guard:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        begin = clock()
        for i in range(N): x = i * i  # @exit
        log(begin, clock(), "Guard.__exit__@exit ...")
        return True


def case_exceptions():
    try:
        begin = clock()
        for i in range(N): x = i * i  # @try
        log(begin, clock(), "case_exceptions@try")
        throw(20)
    except ValueError:
        begin = clock()
        for i in range(N): x = i * i  # @except
        log(begin, clock(), "case_exceptions@except")
    finally:
        begin = clock()
        for i in range(N): x = i * i  # @finally
        log(begin, clock(), "case_exceptions@finally")
    made = thrown_into()
    next(made)
    made.throw(ValueError(1))  # @throw
    with Guard():
        throw(3)
    try:
        sorted((1, 2), key=throw)
    except ValueError:
        pass
    begin = clock()
    for i in range(N): x = i * i  # @after
    log(begin, clock(), "case_exceptions@after")


def handler(*_):
    begin = clock()
    for i in range(N): x = i * i  # @handler
    log(begin, clock(), "handler@handler ...")


def case_signals():
    signal.raise_signal(signal.SIGUSR1)


def first_worker(end):
    while cpu() < end:
        begin = clock()
        for i in range(N): x = i * i  # @first
        log(begin, clock(), "first_worker@first")


def second_worker(end):
    while cpu() < end:
        begin = clock()
        for i in range(N): x = i * i  # @second
        log(begin, clock(), "second_worker@second")


def third_worker(end):
    while cpu() < end:
        begin = clock()
        x = zlib.crc32(DATA)  # @third
        log(begin, clock(), "third_worker@third")


DATA = b"abcdefgh" * 400000


def case_threads():
    global base
    base = "..."
    end = cpu() + 1.5 * SECONDS
    threads = [threading.Thread(target=worker, args=(end,))
               for worker in (first_worker, second_worker, third_worker, first_worker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    base = "run@run <module>@main"


def case_crowd():
    """As many threads as a server has, each with a function of its own."""
    global base
    base = "..."
    sys.setswitchinterval(0.001)
    end = cpu() + 4 * SECONDS
    space = {"clock": clock, "cpu": cpu, "log": log, "N": N // 4}
    for i in range(50):
        exec(compile("\n" * i + f"def worker_{i}(end):\n"
                     "    while cpu() < end:\n"
                     "        begin = clock()\n"
                     "        for k in range(N): x = k * k\n"
                     f"        log(begin, clock(), 'worker_{i}:{i + 4}=<crowd>')\n", "<crowd>", "exec"), space)
    threads = [threading.Thread(target=space[f"worker_{i}"], args=(end,)) for i in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(0.005)
    base = "run@run <module>@main"


def case_forks():
    """A copy makes code of its own where its parent makes other code."""
    global base, name
    base = f"case_forks@fork {base}"
    child = os.fork()
    name = "forked" if child == 0 else "forking"
    if child == 0:
        next(numbers)
        rows.clear()
    end = cpu() + SECONDS
    while cpu() < end:
        case_made()  # @fork
    if child == 0:
        write(f"{sys.argv[1]}.{os.getpid()}")
        os._exit(0)
    os.waitpid(child, 0)


def run(case):
    global name
    name = case.__name__[5:]
    end = cpu() + SECONDS
    while cpu() < end:
        case()  # @run


signal.signal(signal.SIGUSR1, handler)
for case in [value for key, value in list(globals().items()) if key.startswith("case_")]:
    run(case)  # @main
write(sys.argv[1])
