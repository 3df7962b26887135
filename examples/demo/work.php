<?php
// alpha, beta and gamma share the time 60 : 30 : 10.
function alpha(int $n): int { $x = 1; for ($i = 0; $i < 6 * $n; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }
function beta(int $n): int { $x = 1; for ($i = 0; $i < 3 * $n; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }
function gamma(int $n): int { $x = 1; for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i) % 1000003; return $x; }

$seconds = 1;
$spent = ['alpha' => 0, 'beta' => 0, 'gamma' => 0];
$start = hrtime(true);
while (hrtime(true) - $start < $seconds * 1e9) {
    foreach (array_keys($spent) as $function) {
        $before = hrtime(true);
        $function(20000);
        $spent[$function] += hrtime(true) - $before;
    }
}
$total = array_sum($spent);
printf("alpha %.1F beta %.1F gamma %.1F\n", 100 * $spent['alpha'] / $total,
    100 * $spent['beta'] / $total, 100 * $spent['gamma'] / $total);
