"""Prints line tables of its own Python's code, with what that Python makes of them.

    pythonX.Y record_lines.py > tests/data/frames/pythonX.Y.lines

A line: kind of table (walk_table_kind), first line, table, then position:line where the line
changes, up to the code's end; line 0 is none.
"""
import dis
import sys

SOURCES = ["""
def first(a,
          b=1):
    x = (a
         + b
         + call(
             1,
             2))
    for i in range(3):
        if i:
            continue
        y = [j
             for j in range(i)]
    return x
""", """
def far(a):
    try:
        b = a
""" + "\n" * 200 + """
        c = b
    except ValueError as e:
        raise TypeError from e
    finally:
""" + "\n" * 300 + """
        print(a)
    while a:
        a -= 1
    with open(a) as f, open(b) as g:
        pass
    return (lambda: a)
""", "x = 1\n" * 3 + "\n" * 130 + "def f():\n  return x\n" + "y = [\n" + "x,\n" * 70 + "]\n",
           "async def g(a):\n  async for b in a:\n    await b\n    yield b\n  class C:\n    z = 1\n"]


def codes(code):
    yield code
    for const in code.co_consts:
        if hasattr(const, "co_code"):
            yield from codes(const)


def runs(code):
    """(position, line) where lines begin."""
    if hasattr(code, "co_lines"):
        return [(start, line or 0) for start, end, line in code.co_lines() if end > start]
    return [(0, code.co_firstlineno)] + list(dis.findlinestarts(code))


def main():
    if sys.version_info >= (3, 11):
        kind = 3
    else:
        kind = 2 if sys.version_info >= (3, 10) else 1
    for source in SOURCES:
        for code in codes(compile(source, "source", "exec")):
            table = code.co_linetable if kind > 1 else code.co_lnotab
            lines = {}
            for position, line in runs(code):
                lines[position] = line
            print(kind, code.co_firstlineno, table.hex() or "-",
                  *(f"{position}:{line}" for position, line in sorted(lines.items())),
                  f"{len(code.co_code)}:end")


main()
