# Calls of all kinds, until it has had as many seconds of the processor as its argument says.
module Some
  class Caller
    def method(count)
      (count..count + 3).map do |value|
        leaf(value)
      end
    end

    def leaf(count)
      total = 0
      i = 0
      while i < count
        total += i * i
        i += 1
      end
      total
    end

    # More instructions than the first part of a table of lines can lead to.
    def long(count)
      a = [count, count + 1, count + 2, count + 3, count + 4, count + 5, count + 6, count + 7]
      b = { a: a[0], b: a[1], c: a[2], d: a[3], e: a[4], f: a[5], g: a[6], h: a[7] }
      a = b.values + [count, count + 1, count + 2, count + 3, count + 4, count + 5, count + 6]
      b = { a: a[0], b: a[1], c: a[2], d: a[3], e: a[4], f: a[5], g: a[6], h: a[7] }
      a = b.values + [count, count + 1, count + 2, count + 3, count + 4, count + 5, count + 6]
      leaf(a[0])
    end
  end
end

caller = Some::Caller.new
finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + ARGV[0].to_f
while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
  caller.method(60)
  caller.long(60)
end
