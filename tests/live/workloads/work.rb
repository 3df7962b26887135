# alpha, beta and gamma do 60, 30 and 10 % of the hot loop.
def alpha(n, k)
  x = k; i = 0; m = n * 6
  while i < m; x = (x * 31 + i) % 1000003; i += 1; end
  x
end

def beta(n, k)
  x = k; i = 0; m = n * 3
  while i < m; x = (x * 31 + i) % 1000003; i += 1; end
  x
end

def gamma(n, k)
  x = k; i = 0
  while i < n; x = (x * 31 + i) % 1000003; i += 1; end
  x
end

def recur(d)
  d < 2 ? d : recur(d - 1) + recur(d - 2)
end

seconds = (ARGV[0] || 3).to_f
# Of the processor, not of the clock: a busy machine must not shift the shares.
cpu = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) }
spent = [0, 0, 0]
sink = 0
rounds = 0
start = cpu.()
while cpu.() - start < seconds
  [:alpha, :beta, :gamma].each_with_index do |work, index|
    from = cpu.()
    sink += send(work, 3000, rounds & 1023)
    spent[index] += cpu.() - from
  end
  sink += recur(8)
  rounds += 1
end
total = spent.sum
printf("rounds %d share alpha %.1f beta %.1f gamma %.1f sink %d\n", rounds,
       100 * spent[0] / total, 100 * spent[1] / total, 100 * spent[2] / total, sink % 1000)
