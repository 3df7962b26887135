# Ruby with YJIT: alpha, beta and gamma share the time 60 : 30 : 10.
def alpha(n)
  x = 1
  i = 0
  while i < 6 * n
    x = (x * 31 + i) % 1000003
    i += 1
  end
  x
end

def beta(n)
  x = 1
  i = 0
  while i < 3 * n
    x = (x * 31 + i) % 1000003
    i += 1
  end
  x
end

def gamma(n)
  x = 1
  i = 0
  while i < n
    x = (x * 31 + i) % 1000003
    i += 1
  end
  x
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

seconds = 1
spent = { alpha: 0.0, beta: 0.0, gamma: 0.0 }
start = now
while now - start < seconds
  spent.each_key do |function|
    before = now
    send(function, 2000)
    spent[function] += now - before
  end
end
total = spent.values.sum
puts spent.map { |function, time| format('%s %.1f', function, 100 * time / total) }.join(' ')
