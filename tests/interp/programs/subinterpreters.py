"""Runs a function in interpreters of their own, in the main thread and in others, for as many
seconds as its argument says.
"""
import sys
import threading
import time

if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters

END = time.monotonic() + float(sys.argv[1])
SOURCE = f"""
import time
def in_sub(count):
    total = 0
    for i in range(count):
        total += i
    return total
def run_sub():
    end = min(time.monotonic() + 0.1, {END})
    while time.monotonic() < end:
        in_sub(500)
run_sub()
"""


def enter(interpreter):
    if sys.version_info >= (3, 13):
        interpreters.exec(interpreter, SOURCE)
    else:
        interpreters.run_string(interpreter, SOURCE)


def in_main(count):
    return sum(i for i in range(count))


def work():
    own = interpreters.create()
    while time.monotonic() < END:
        enter(own)
        for _ in range(200):
            in_main(300)


def main():
    other = threading.Thread(target=work)
    other.start()
    work()
    other.join()


main()
