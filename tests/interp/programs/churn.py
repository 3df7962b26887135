"""Code that is made, run and thrown away, in threads, a child and deep recursion, for as many
seconds as its argument says. Function fn_N is in file <N>, from line N % 50 + 1 on.
"""
import os
import sys
import threading
import time

END = time.monotonic() + float(sys.argv[1])


def spin(count):
    total = 0
    for i in range(count):
        total += i
    return total


def churn(start, step):
    number = start
    while time.monotonic() < END:
        number += step
        text = "\n" * (number % 50) + f"def fn_{number}(spin):\n    x = 0\n    for i in range(300):\n        x += i\n    return spin(200)\n"
        made = {}
        exec(compile(text, f"<{number}>", "exec"), made)
        made[f"fn_{number}"](spin)


def deep(depth):
    if depth:
        return deep(depth - 1)
    return spin(3000)


def dive():
    while time.monotonic() < END:
        deep(200)


def main():
    child = os.fork()
    threads = [threading.Thread(target=churn, args=(i + (1000000 if child else 0), 3)) for i in range(3)]
    threads.append(threading.Thread(target=dive))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if child:
        os.waitpid(child, 0)


main()
