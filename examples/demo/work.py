"""CPython 3.12 and later: alpha, beta and gamma share the time 60 : 30 : 10."""
import time


def alpha(n):
    x = 1
    for i in range(6 * n):
        x = (x * 31 + i) % 1000003
    return x


def beta(n):
    x = 1
    for i in range(3 * n):
        x = (x * 31 + i) % 1000003
    return x


def gamma(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x


SECONDS = 1
spent = {alpha: 0.0, beta: 0.0, gamma: 0.0}
start = time.perf_counter()
while time.perf_counter() - start < SECONDS:
    for function in spent:
        before = time.perf_counter()
        function(2000)
        spent[function] += time.perf_counter() - before
total = sum(spent.values())
print(*(f"{function.__name__} {100 * seconds / total:.1f}" for function, seconds in spent.items()))
