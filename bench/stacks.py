"""Stacks of all kinds in an interpreter: its own functions, callbacks from C, generators, recursion.

    stacks.py SECONDS [ROUNDS]
"""
import collections
import json
import random
import re
import sys
import time


def fibonacci(n):
    return 1 if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


class Item:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __call__(self, match):
        return match.group(0) * 2

    @property
    def doubled(self):
        return self.value * 2


def generate(count):
    for i in range(count):
        yield fibonacci(3) + i


def deep(n):
    return sum(map(deep, [n - 1])) if n else fibonacci(8)


def work():
    table = {str(i): [i, {"a": i * 1.5, "b": [1, 2, 3]}] for i in range(200)}
    json.loads(json.dumps(table))
    sorted(Item(random.random()) for _ in range(300))
    re.sub(r"[a-z]+\d", Item(3), "abc1 def2 " * 40)
    sum(generate(300))
    deep(20)
    collections.Counter("hello world" * 50).most_common(3)
    sum(Item(i).doubled for i in range(100))


random.seed(1)
if len(sys.argv) > 2:  # so many rounds; what they took of the CPU, and of the time
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(int(sys.argv[2])):
        work()
    print(time.process_time() - cpu, time.perf_counter() - wall)
else:
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        work()
