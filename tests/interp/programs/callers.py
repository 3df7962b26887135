"""Calls of all kinds, always the same, until it has had as many seconds of the processor as its argument says."""
import sys
import time


def größe(count):  # Latin-1
    total = 0
    for i in range(count):
        total += i * i
    return total


def глубина(depth, count):  # two bytes a character
    if depth:
        return глубина(depth - 1, count)
    return größe(count)


def generator(count):
    for i in range(3):
        yield глубина(2, count + i)


class Outer:
    class Inner:
        def method(self, count):
            return sum(generator(count))


def key(value):
    return -Outer.Inner().method(40) + value


def thrown(count):
    try:
        raise ValueError(count)
    except ValueError as error:
        return größe(error.args[0])


made = {}
exec(compile("\n\n\ndef made_up(count):\n    x = lambda n: größe(n)\n    return x(count)\n",
             "<made up>", "exec"), globals(), made)


def main():
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        sorted(range(4), key=key)
        made["made_up"](60)
        thrown(60)


main()
