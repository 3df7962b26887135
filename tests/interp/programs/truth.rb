# Logs which function and line ran when: truth.rb LOG SECONDS; the log's form is in truth.py.
N = 40_000 # a loop takes about a millisecond
SECONDS = ARGV[1].to_f
$rows = []
$numbers = (1..).each

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# How long cases run: a busy machine must not make them fewer samples.
def cpu
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

$base = "block~in~run@run run@each <main>@main"

def note(begins, ends, *stacks)
  $rows << [$case, $forked || Thread.current.native_thread_id, begins, ends, $base, stacks]
end

def write(path)
  File.open(path, "w") do |out|
    $rows.each do |name, tid, begins, ends, base, stacks|
      whole = stacks.map { |stack| stack.end_with?("...") ? stack : "#{stack} #{base}" }
      out.puts [name, tid, begins, ends, whole.join("|")].join("\t")
    end
  end
end

def lines
  n = N
  t = clock
  i = 0; while i < n; x = i * i; i += 1; end # @while
  note(t, clock, "lines@while ...")
  t = clock
  x = 1 +
    (1..n).sum { |v| v * v } # @sum
  note(t, clock, "block~in~lines@sum ...", "lines@sum ...")
  big = "abcdefgh" * 40_000
  t = clock
  x = [
    big.sum # @native
  ]
  note(t, clock, "lines@native ...")
end

# Functions whose lines are far apart.
def scattered_source
  text = +"def scattered(n)\n"
  line = 501
  24.times do |k|
    gap = [1, 2, 7, 40, 130, 300, 3, 1][k % 8]
    text << "t = clock#{"\n" * gap}i = 0; while i < n; x = i * #{k}; i += 1; end\n" \
            "note(t, clock, \"scattered:#{line + gap} ...\")\n"
    line += gap + 2
    if k % 8 == 5
      text << "x = #{(["i"] * 200).join(" + ")}\n"
      line += 1
    end
  end
  text << "end\n"
end

eval(scattered_source, TOPLEVEL_BINDING, "scattered", 500)

def case_scattered
  scattered(N / 2)
end

# Code that is made, run once and thrown away, so that the next has its place.
def made
  number = $numbers.next
  line = number % 300 + 1
  Object.class_eval("def fn_#{number}(n)\ni = 0; while i < n; x = i * i; i += 1; end\nend", "made", line)
  t = clock
  send("fn_#{number}", N / 2)
  note(t, clock, "fn_#{number}:#{line + 1} ...")
  Object.send(:remove_method, "fn_#{number}")
  GC.start if number % 10 == 0
end

# The same, with nothing but one thing that differs: where the loop is, the name, the file.
def again
  number = $numbers.next
  gap = number * 37 % 90 + 1
  remade("same", "made", "\n" * gap, gap + 1)
  remade("name_#{number % 10}", "made", "\n", 2)
  remade("same", "file#{number % 10}", "\n", 2)
  GC.start if number % 10 == 0
end

def remade(name, file, gap, line)
  Object.class_eval("def #{name}(n)#{gap}i = 0; while i < n; x = i * i; i += 1; end\nend", file, 1)
  t = clock
  send(name, N / 2)
  note(t, clock, "#{name}:#{line}=#{file} ...")
  Object.send(:remove_method, name)
end

def generators
  fiber = Fiber.new do
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @fiber
    note(t, clock, "block~in~generators@fiber ...")
    Fiber.yield 1
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @resumed
    note(t, clock, "block~in~generators@resumed ...")
  end
  fiber.resume
  t = clock
  i = 0; while i < N; x = i * i; i += 1; end # @between
  note(t, clock, "generators@between ...")
  fiber.resume
  steps = Enumerator.new do |y|
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @enumerator
    note(t, clock, "block~in~generators@enumerator ...")
    y << 1
  end
  steps.next
end

def down(depth, levels)
  return down(depth - 1, levels) if depth > 0 # @down
  t = clock
  i = 0; while i < N; x = i * i; i += 1; end # @bottom
  note(t, clock, "down@bottom #{"down@down " * levels}block~in~recursion@dive ...")
end

def recursion
  [1, 5, 30, 200].each do |levels|
    down(levels, levels) # @dive
  end
end

class Thing
  include Comparable

  def <=>(other)
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @compare
    note(t, clock, "<=>@compare ...")
    object_id <=> other.object_id
  end

  def to_s
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @string
    note(t, clock, "to_s@string callbacks@interpolated ...")
    "thing"
  end

  def each
    yield 1 # @yield
  end

  def method_missing(name)
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @missing
    note(t, clock, "method_missing@missing callbacks@call ...")
  end

  def respond_to_missing?(name, all = false)
    false
  end

  define_method(:defined) do
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @defined
    note(t, clock, "block~in~<class:Thing>@defined ...")
  end
end

def callbacks
  [2, 1].sort_by do |v|
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @key
    note(t, clock, "block~in~callbacks@key ...")
    v
  end
  [1].map do |v|
    [v].each do |w|
      t = clock
      i = 0; while i < N; x = i * i; i += 1; end # @nested
      note(t, clock, "block~(2~levels)~in~callbacks@nested ...")
    end
  end
  [Thing.new, Thing.new].sort
  x = "a #{Thing.new}" # @interpolated
  Thing.new.each do |v|
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @yielded
    note(t, clock, "block~in~callbacks@yielded each@yield ...")
  end
  Thing.new.absent # @call
  Thing.new.defined
  "a".gsub("a") do
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @replaced
    note(t, clock, "block~in~callbacks@replaced ...")
    "b"
  end
  run = lambda do
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @lambda
    note(t, clock, "block~in~callbacks@lambda ...")
  end
  run.call
end

def throw_it(depth)
  throw_it(depth - 1) if depth > 0
  raise "thrown"
end

def exceptions
  begin
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @begin
    note(t, clock, "exceptions@begin ...")
    throw_it(20)
  rescue StandardError
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @rescue
    note(t, clock, "rescue~in~exceptions@rescue ...")
  ensure
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @ensure
    note(t, clock, "exceptions@ensure ...", "ensure~in~exceptions@ensure ...")
  end
  catch(:done) { [1].each { throw :done } }
  t = clock
  i = 0; while i < N; x = i * i; i += 1; end # @after
  note(t, clock, "exceptions@after ...")
end

def first_worker(finish)
  while cpu < finish
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @first
    note(t, clock, "first_worker@first ...")
  end
end

def second_worker(finish)
  while cpu < finish
    t = clock
    i = 0; while i < N; x = i * i; i += 1; end # @second
    note(t, clock, "second_worker@second ...")
  end
end

def threads
  finish = cpu + SECONDS
  4.times.map { |k| Thread.new { k.odd? ? first_worker(finish) : second_worker(finish) } }.each(&:join)
end

# A copy makes code of its own where its parent makes other code.
def forks
  child = fork
  $case = child ? "forking" : "forked"
  unless child
    $rows.clear
    $forked = $$ # Ruby goes on to say what its parent's is
    $numbers.next
  end
  finish = cpu + SECONDS
  again while cpu < finish
  unless child
    write("#{ARGV[0]}.#{$$}")
    exit!(0)
  end
  Process.wait(child)
end

def run(name)
  $case = name.to_s.delete_prefix("case_")
  finish = cpu + SECONDS
  send(name) while cpu < finish
end

%i[lines case_scattered made again generators recursion callbacks exceptions threads forks].each do |name|
  run(name)
end
write(ARGV[0])
