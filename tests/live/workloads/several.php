<?php
// PHP's own calls of PHP leave no trace on the machine's stack; those through its library do.
function php_leaf(int $a, int $b): int
{
    $x = $a;
    for ($i = 0; $i < 20000; $i++) {
        $x = ($x * 31 + $i) % 1000003;
    }
    return $x <=> $b;
}

function php_outer(int $k): void
{
    $values = [$k, 3, 1, 2];
    usort($values, 'php_leaf');
}
