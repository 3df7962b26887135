<?php
// Logs which function and line ran when: truth.php LOG SECONDS [N]; the log's form is in truth.py.
namespace Made\Up;

define('N', (int)($argv[3] ?? 60000)); // a loop takes about a millisecond, where nothing is compiled
$seconds = (float)$argv[2];
$rows = [];
$case = '';
$number = 0;
define('PID', getmypid());

// How long cases run: a busy machine must not make them fewer samples.
function cpu(): float {
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']
        + 1e-6 * ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']);
}

function note(int $begin, int $end, string $stacks): void {
    global $rows, $case, $tid;
    $rows[] = [$case, $tid, $begin, $end, $stacks];
}

function write(string $path): void {
    global $rows;
    $out = fopen($path, 'w');
    foreach ($rows as $row) {
        fwrite($out, implode("\t", $row) . "\n");
    }
    fclose($out);
}

function lines(): void {
    $n = N;
    $begin = hrtime(true);
    for ($i = 0; $i < $n; $i++) { $x = $i * $i; } // @for
    note($begin, hrtime(true), 'Made\Up\lines@for <main>@main');
    $begin = hrtime(true);
    while ($n) { $n--; } // @while
    note($begin, hrtime(true), 'Made\Up\lines@while <main>@main');
    $text = str_repeat('abcdefgh', 40000);
    $begin = hrtime(true);
    $x = md5($text) . // @first
        'b';
    note($begin, hrtime(true), 'Made\Up\lines@first <main>@main');
    $begin = hrtime(true);
    $x = 'a' .
        sha1($text); // @second
    note($begin, hrtime(true), 'Made\Up\lines@second <main>@main');
}

// Functions whose lines are far apart.
function scattered_source(int $first): string {
    $text = str_repeat("\n", $first - 1) . "function scattered(\$n) {\n";
    $line = $first + 1;
    for ($k = 0; $k < 24; $k++) {
        $gap = [1, 2, 7, 40, 130, 300, 3, 1][$k % 8];
        $text .= '$begin = hrtime(true);' . str_repeat("\n", $gap)
            . "for (\$i = 0; \$i < \$n; \$i++) { \$x = \$i * $k; }\n"
            . "\\Made\\Up\\note(\$begin, hrtime(true), 'scattered:" . ($line + $gap) . " ...');\n";
        $line += $gap + 2;
    }
    return $text . '}';
}

function made(): void {
    global $number;
    $number++;
    $line = $number % 300 + 1;
    $run = eval(str_repeat("\n", $line - 1) . 'return function ($n) { $begin = hrtime(true);'
        . ' for ($i = 0; $i < $n; $i++) { $x = $i * $i; }'
        . " \\Made\\Up\\note(\$begin, hrtime(true), '{closure}:$line Made\\Up\\made@made <main>@main'); };");
    $run(N / 2); // @made
    unset($run);
    $line = $number % 90 + 1;
    eval(str_repeat("\n", $line - 1) . '$begin = hrtime(true); for ($i = 0; $i < 40000; $i++) { $x = $i * $i; }'
        . " \\Made\\Up\\note(\$begin, hrtime(true), '<main>:$line Made\\Up\\made@eval <main>@main');"); // @eval
}

// The same, with nothing but one thing that differs: where the loop is, the file (of which eval() makes
// one a line), the class.
function again(): void {
    global $number;
    $number++;
    $digit = $number % 10;
    remade('return function ($n)', 100 + $number * 37 % 90, '{closure}');
    if ($digit < 5) {
        remade('return function ($n)', 1, '{closure}');
    } else {
        $source = source('return function ($n)', 1, '{closure}', __LINE__ + 1);
        $run = eval($source);
        $run(N / 2);
        unset($run);
    }
    remade('return new class { function __invoke($n)', 1, 'class@anonymous::__invoke', ' };');
}

function remade(string $head, int $gap, string $name, string $tail = ';'): void {
    $source = source($head, $gap, $name, __LINE__ + 1, $tail);
    $run = eval($source);
    $run(N / 2);
}

function source(string $head, int $gap, string $name, int $at, string $tail = ';'): string {
    $line = $gap + 1;
    $file = str_replace(' ', '~', __FILE__ . "($at) : eval()'d code");
    return "$head { \$begin = hrtime(true);" . str_repeat("\n", $gap)
        . 'for ($i = 0; $i < $n; $i++) { $x = $i * $i; }'
        . " \\Made\\Up\\note(\$begin, hrtime(true), \"$name:$line=$file ...\"); }$tail";
}

function generator() {
    for ($k = 0; $k < 3; $k++) {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @generator
        note($begin, hrtime(true), 'Made\Up\generator@generator Made\Up\generators@next <main>@main');
        yield $k;
    }
}

function inner() {
    $begin = hrtime(true);
    for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @inner
    note($begin, hrtime(true), 'Made\Up\inner@inner ...');
    yield 1;
}

function outer() {
    yield from inner(); // @from
}

function generators(): void {
    foreach (generator() as $value) { // @next
        $x = $value;
    }
    foreach (outer() as $value) {
        $x = $value;
    }
    $begin = hrtime(true);
    for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @between
    note($begin, hrtime(true), 'Made\Up\generators@between <main>@main');
}

function down(int $depth, int $levels): int {
    if ($depth) {
        return down($depth - 1, $levels); // @down
    }
    $begin = hrtime(true);
    for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @bottom
    note($begin, hrtime(true), 'Made\Up\down@bottom ' . str_repeat('Made\Up\down@down ', $levels)
        . 'Made\Up\recursion@dive <main>@main');
    return 1;
}

function recursion(): void {
    foreach ([1, 5, 30, 200] as $levels) {
        down($levels, $levels); // @dive
    }
}

function by_key(int $a, int $b): int {
    $begin = hrtime(true);
    for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @compared
    note($begin, hrtime(true), 'Made\Up\by_key@compared Made\Up\callbacks@usort <main>@main');
    return $a - $b;
}

class Thing implements \IteratorAggregate, \Countable {
    public static function mapped(int $value): int {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @mapped
        note($begin, hrtime(true), 'Made\Up\Thing::mapped@mapped Made\Up\callbacks@map <main>@main');
        return $value;
    }

    public function __get(string $name): int {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @get
        note($begin, hrtime(true), 'Made\Up\Thing::__get@get Made\Up\callbacks@property <main>@main');
        return 1;
    }

    public function __toString(): string {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @string
        note($begin, hrtime(true), 'Made\Up\Thing::__toString@string Made\Up\callbacks@concatenated <main>@main');
        return 'thing';
    }

    public function count(): int {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @count
        note($begin, hrtime(true), 'Made\Up\Thing::count@count ...');
        return 1;
    }

    public function getIterator(): \Iterator {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @iterator
        note($begin, hrtime(true), 'Made\Up\Thing::getIterator@iterator Made\Up\callbacks@iterate <main>@main');
        return new \ArrayIterator([]);
    }

    public function __destruct() {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @destroyed
        note($begin, hrtime(true), 'Made\Up\Thing::__destruct@destroyed Made\Up\callbacks@destroy <main>@main');
    }
}

function callbacks(): void {
    $array = [2, 1];
    usort($array, 'Made\Up\by_key'); // @usort
    array_map('Made\Up\Thing::mapped', [1, 2]); // @map
    array_map(function ($value) { // @closures
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @closure
        note($begin, hrtime(true), 'Made\Up\{closure}@closure Made\Up\callbacks@closures <main>@main');
    }, [1]);
    preg_replace_callback('/a/', function ($match) {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @replaced
        note($begin, hrtime(true), 'Made\Up\{closure}@replaced ...');
        return 'b';
    }, 'a');
    $thing = new Thing();
    $x = $thing->value; // @property
    $x = "the $thing"; // @concatenated
    count($thing);
    foreach ($thing as $x) { // @iterate
    }
    unset($thing); // @destroy
}

function throw_it(int $depth): void {
    if ($depth) {
        throw_it($depth - 1);
    }
    throw new \Exception('thrown');
}

function exceptions(): void {
    try {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @try
        note($begin, hrtime(true), 'Made\Up\exceptions@try <main>@main');
        throw_it(20);
    } catch (\Exception $exception) {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @catch
        note($begin, hrtime(true), 'Made\Up\exceptions@catch <main>@main');
    } finally {
        $begin = hrtime(true);
        for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @finally
        note($begin, hrtime(true), 'Made\Up\exceptions@finally <main>@main');
    }
    try {
        array_map('Made\Up\throw_it', [2, 1]);
    } catch (\Exception $exception) {
    }
    $begin = hrtime(true);
    for ($i = 0; $i < N; $i++) { $x = $i * $i; } // @after
    note($begin, hrtime(true), 'Made\Up\exceptions@after <main>@main');
}

$tid = PID;
eval(scattered_source(500));
function scattered(): void {
    \scattered(N / 2);
}

foreach (['lines', 'scattered', 'made', 'again', 'generators', 'recursion', 'callbacks', 'exceptions'] as $case) {
    $end = cpu() + $seconds;
    while (cpu() < $end) {
        ('Made\Up\\' . $case)(); // @main
    }
}
if (function_exists('pcntl_fork')) {
    // A copy makes code of its own where its parent makes other code.
    $child = pcntl_fork();
    $case = $child ? 'forking' : 'forked';
    if (!$child) {
        $tid = getmypid();
        $rows = [];
        $number++;
    }
    $end = cpu() + $seconds;
    while (cpu() < $end) {
        again();
    }
    if ($child) {
        pcntl_waitpid($child, $status);
    }
}
write($tid == PID ? $argv[1] : "$argv[1].$tid");
