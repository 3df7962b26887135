<?php
// alpha, beta and gamma do 60, 30 and 10 % of the hot loop.
function alpha($n, $k) { $x = $k; for ($i = 0; $i < $n * 6; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }
function beta($n, $k) { $x = $k; for ($i = 0; $i < $n * 3; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }
function gamma($n, $k) { $x = $k; for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }
function recur($d) { return $d < 2 ? $d : recur($d - 1) + recur($d - 2); }
function größe($n) { $x = 1; for ($i = 0; $i < $n; $i++) $x = ($x * 7 + $i) % 9973; return $x; }
class Klass {
    function method($n) { $x = 1; for ($i = 0; $i < $n; $i++) $x = ($x * 7 + $i) % 9973; return $x; }
    static function plus_one($n) { return $n + 1; }
}

// Of the processor, not of the clock: a busy machine must not shift the shares.
function spent_us() {
    $used = getrusage();
    return ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1000000 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
}

$seconds = $argv[1] ?? 3;
$spent = [0, 0, 0];
$sink = 0;
$rounds = 0;
$klass = new Klass;
$lambda = function ($q) { return $q * 3 % 7; };
$start = spent_us();
while (spent_us() - $start < $seconds * 1e6) {
    foreach (['alpha', 'beta', 'gamma'] as $index => $work) {
        $from = spent_us();
        $sink += $work(10000, $rounds & 1023);
        $spent[$index] += spent_us() - $from;
    }
    $sink += recur(12) + größe(500) + $klass->method(500) + Klass::plus_one(1) + $lambda($rounds);
    $rounds++;
}
$total = array_sum($spent);
printf("rounds %d share alpha %.1f beta %.1f gamma %.1f sink %d\n", $rounds,
    100 * $spent[0] / $total, 100 * $spent[1] / $total, 100 * $spent[2] / $total, $sink % 1000);
