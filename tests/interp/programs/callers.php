<?php
// Calls of all kinds, until it has had as many seconds of the processor as its argument says.
namespace Some\Where;

function leaf($count) {
    $total = 0;
    for ($i = 0; $i < $count; $i++) {
        $total += $i * $i;
    }
    return $total;
}

function generator($count) {
    for ($i = 0; $i < 3; $i++) {
        yield leaf($count + $i);
    }
}

class Caller {
    public function method($count) {
        $sum = 0;
        foreach (generator($count) as $value) {
            $sum += $value;
        }
        return $sum;
    }

    public static function each($count) {
        return array_map(function ($value) {
            return (new Caller)->method($value);
        }, range($count, $count + 3));
    }
}

$seconds = (float)$argv[1];
while (($used = getrusage())['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6 < $seconds) {
    Caller::each(60);
    eval('\\Some\\Where\\leaf(60);');
}
