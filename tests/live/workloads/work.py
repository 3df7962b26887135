"""alpha, beta and gamma do 60, 30 and 10 % of the hot loop."""
import sys
import time


def alpha(n, k):
    x = k
    for i in range(n * 6):
        x = (x * 31 + i) % 1000003
    return x


def beta(n, k):
    x = k
    for i in range(n * 3):
        x = (x * 31 + i) % 1000003
    return x


def gamma(n, k):
    x = k
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x


def recur(d):
    return d if d < 2 else recur(d - 1) + recur(d - 2)


def größe(n):
    x = 1
    for i in range(n):
        x = (x * 7 + i) % 9973
    return x


seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
cpu = time.thread_time  # not the clock: a busy machine must not shift the shares
spent, sink, rounds = [0.0, 0.0, 0.0], 0, 0
start = cpu()
while cpu() - start < seconds:
    for index, work in enumerate((alpha, beta, gamma)):
        before = cpu()
        sink += work(4000, rounds & 1023)
        spent[index] += cpu() - before
    sink += recur(8) + größe(100)
    if rounds % 200 == 0:
        exec("def made_%d(q):\n  return q + 1\nmade_%d(1)" % (rounds % 7, rounds % 7))
    rounds += 1
total = sum(spent)
print("rounds", rounds, "share alpha %.1f beta %.1f gamma %.1f" % tuple(100 * one / total for one in spent),
      "sink", sink % 1000)
