"""A known chain of calls, through C functions and without: chain.py SECONDS, of the processor.

Prints the times (CLOCK_MONOTONIC, ns) between which outer > middle > inner > leaf is on the stack.
"""
import functools
import sys
import time


def leaf(rounds):
    x = 1
    for i in range(rounds):
        x = (x * 31 + i) % 1000003
    return x


def inner(value):
    return leaf(2000 + value % 7) + leaf(300)


class Middle:
    def __call__(self, rounds):
        return sum(map(inner, range(rounds)))


def by_key(middle):
    return sorted(range(3), key=lambda value: middle(value + 2))


def by_generator(middle):
    return [value for value in (middle(2) for _ in range(3))]


def by_reduce(middle):
    return functools.reduce(lambda total, _: total + middle(2), range(3), 0)


def outer(end):
    middle = Middle()
    while time.process_time() < end:
        for way in (by_key, by_generator, by_reduce):
            way(middle)


start = time.monotonic_ns()
outer(time.process_time() + float(sys.argv[1]))
print("phase", start, time.monotonic_ns())
