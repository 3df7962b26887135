# Logs which function and line ran when: truth.pl LOG SECONDS; the log's form is in truth.py.
package Made::Up;
use strict;
use warnings;
no warnings 'recursion';
use threads;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

our $CLOCK = CLOCK_MONOTONIC; # by a function
my $N = 20_000; # a loop takes about a millisecond
my ($log, $seconds) = @ARGV;
my @rows;
my $case = '';
my $number = 0;
my $x = 0;

# How long cases run: a busy machine must not make them fewer samples.
sub cpu { return clock_gettime(CLOCK_PROCESS_CPUTIME_ID) }

sub tid { return syscall(186) } # gettid

sub note {
    my ($begin, $end, @stacks) = @_;
    push @rows, [$case, tid(), $begin, $end, join '|', @stacks];
}

sub rows_as_text {
    return join '', map {
        sprintf "%s\t%d\t%.0f\t%.0f\t%s\n", $_->[0], $_->[1], 1e9 * $_->[2], 1e9 * $_->[3], $_->[4]
    } @rows;
}

sub lines {
    my $n = $N;
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $n) { $x += $i * $i } # @for
    note($begin, clock_gettime($CLOCK), 'Made::Up::lines@for ...');
    my $i = $n;
    $begin = clock_gettime($CLOCK);
    $i-- while $i; # @while
    note($begin, clock_gettime($CLOCK), 'Made::Up::lines@while ...');
    my @all = map { $_ ^ 12345 } 1 .. $n;
    $begin = clock_gettime($CLOCK);
    @all = sort { $a <=> $b } @all; # @sort
    note($begin, clock_gettime($CLOCK), 'Made::Up::lines@sort ...');
    $begin = clock_gettime($CLOCK);
    @all = map { $_ * $_ } 1 .. $n; # @mapped
    # The next statement begins by freeing what the one before has made.
    note($begin, clock_gettime($CLOCK), 'Made::Up::lines@mapped ...', 'Made::Up::lines@freed ...'); # @freed
}

# Subroutines whose lines are far apart.
sub scattered_source {
    my $text = "sub scattered {\nmy (\$n) = \@_; my \$begin;\n";
    my $line = 502;
    for my $k (0 .. 23) {
        my $gap = (1, 2, 7, 40, 130, 300, 3, 1)[$k % 8];
        $text .= "\$begin = clock_gettime($CLOCK);" . "\n" x $gap
            . "for my \$i (1 .. \$n) { \$x += \$i * $k }\n"
            . "note(\$begin, clock_gettime($CLOCK), 'Made::Up::scattered:" . ($line + $gap) . " ...');\n";
        $line += $gap + 2;
    }
    return "# line 500 \"scattered\"\n$text}\n1";
}
eval(scattered_source()) or die;

sub case_scattered { scattered($N / 2) }

# Code that is made, run once and thrown away, so that the next has its place.
sub made {
    $number++;
    my $line = $number % 300 + 1;
    my $run = eval "# line $line \"made\"\nsub { for my \$i (1 .. \$_[0]) { \$x += \$i * \$i } }" or die;
    my $begin = clock_gettime($CLOCK);
    $run->($N / 2);
    note($begin, clock_gettime($CLOCK), "Made::Up::__ANON__:$line ...");
    eval "# line $line \"made\"\nsub fn_$number { for my \$i (1 .. \$_[0]) { \$x += \$i * \$i } }; 1" or die;
    my $name = "Made::Up::fn_$number";
    {
        no strict 'refs';
        $begin = clock_gettime($CLOCK);
        $name->($N / 2);
        note($begin, clock_gettime($CLOCK), "$name:$line ...");
        delete $Made::Up::{"fn_$number"};
    }
}

# The same, with nothing but one thing that differs: where the loop is, the file, the name, the package.
sub again {
    $number++;
    my $gap = $number * 37 % 90 + 1;
    my $digit = $number % 10;
    remade('Made::Up', 'same', 'made', $gap);
    remade('Made::Up', 'same', "file$digit", 1);
    remade('Made::Up', "name$digit", 'made', 1);
    remade("Made::P$digit", 'same', 'made', 1);
}

sub remade {
    my ($package, $name, $file, $gap) = @_;
    my $line = $gap + 1;
    eval "# line 1 \"$file\"\npackage $package; sub $name {" . "\n" x $gap
        . "for my \$i (1 .. \$_[0]) { \$x += \$i * \$i } } 1" or die;
    no strict 'refs';
    my $begin = clock_gettime($CLOCK);
    "${package}::$name"->($N / 2);
    note($begin, clock_gettime($CLOCK), "${package}::$name:$line=$file ...");
    delete ${"${package}::"}{$name};
}

sub down {
    my ($depth, $levels) = @_;
    # In a block of one statement Perl has no place for that statement's line.
    if ($depth) { # @down
        return down($depth - 1, $levels);
    }
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @bottom
    note($begin, clock_gettime($CLOCK),
        join ' ', 'Made::Up::down@bottom', ('Made::Up::down@down') x $levels, 'Made::Up::recursion@dive ...');
}

sub recursion {
    for my $levels (1, 5, 30, 200) {
        down($levels, $levels); # @dive
    }
}

sub by_number {
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @compared
    note($begin, clock_gettime($CLOCK), 'Made::Up::by_number@compared Made::Up::callbacks@sorted ...');
    return $a <=> $b;
}

sub called {
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @called
    note($begin, clock_gettime($CLOCK), 'Made::Up::called@called Made::Up::callbacks@block ...');
    return $_[0];
}

package Made::Thing {
    use Time::HiRes 'clock_gettime';
    use overload '+' => \&add, '""' => \&text;

    sub new { return bless {}, shift }

    sub add {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @add
        Made::Up::note($begin, clock_gettime($CLOCK), 'Made::Thing::add@add Made::Up::callbacks@plus ...');
        return 1;
    }

    sub text {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @text
        Made::Up::note($begin, clock_gettime($CLOCK), 'Made::Thing::text@text Made::Up::callbacks@string ...');
        return 'thing';
    }

    sub TIESCALAR { return bless {}, shift }

    sub FETCH {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @fetch
        Made::Up::note($begin, clock_gettime($CLOCK), 'Made::Thing::FETCH@fetch Made::Up::callbacks@tied ...');
        return 1;
    }

    sub DESTROY {
        return if $_[0]{quiet};
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @destroyed
        Made::Up::note($begin, clock_gettime($CLOCK), 'Made::Thing::DESTROY@destroyed ...');
    }

    sub AUTOLOAD {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @autoload
        Made::Up::note($begin, clock_gettime($CLOCK), 'Made::Thing::AUTOLOAD@autoload Made::Up::callbacks@absent ...');
    }
}

sub callbacks {
    my @sorted = sort by_number 2, 1; # @sorted
    @sorted = sort { called($a) <=> called($b) } 2, 1; # @block
    my $thing = Made::Thing->new;
    my $y = $thing + 1; # @plus
    $y = "a $thing"; # @string
    $thing->absent; # @absent
    tie my $tied, 'Made::Thing';
    $y = $tied; # @tied
    undef $thing;
    my $text = 'a';
    $text =~ s/a/replaced()/e; # @substitute
    my @mapped = map { mapped($_) } 1; # @map
}

sub replaced {
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @replaced
    note($begin, clock_gettime($CLOCK), 'Made::Up::replaced@replaced Made::Up::callbacks@substitute ...');
    return 'b';
}

sub mapped {
    my $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @map_body
    note($begin, clock_gettime($CLOCK), 'Made::Up::mapped@map_body Made::Up::callbacks@map ...');
    return 1;
}

sub throw {
    my ($depth) = @_;
    throw($depth - 1) if $depth;
    die "thrown\n";
}

sub exceptions {
    my $begin;
    eval {
        $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @eval
        note($begin, clock_gettime($CLOCK), 'Made::Up::exceptions@eval ...');
        throw(20);
    } or do {
        $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @or
        note($begin, clock_gettime($CLOCK), 'Made::Up::exceptions@or ...');
    };
    local $SIG{__DIE__} = sub {
        $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @hook
        note($begin, clock_gettime($CLOCK), 'Made::Up::__ANON__@hook ...');
    };
    eval { my @sorted = sort { throw(3) } 2, 1 };
    $begin = clock_gettime($CLOCK);
    for my $i (1 .. $N) { $x += $i * $i } # @after
    note($begin, clock_gettime($CLOCK), 'Made::Up::exceptions@after ...');
}

sub first_worker {
    my ($finish) = @_;
    @rows = ();
    while (cpu() < $finish) {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @first
        note($begin, clock_gettime($CLOCK), 'Made::Up::first_worker@first ...');
    }
    return rows_as_text();
}

sub second_worker {
    my ($finish) = @_;
    @rows = ();
    while (cpu() < $finish) {
        my $begin = clock_gettime($CLOCK);
        for my $i (1 .. $N) { $x += $i * $i } # @second
        note($begin, clock_gettime($CLOCK), 'Made::Up::second_worker@second ...');
    }
    return rows_as_text();
}

my $others = '';
my %cases = (lines => \&lines, scattered => \&case_scattered, made => \&made, again => \&again,
    recursion => \&recursion, callbacks => \&callbacks, exceptions => \&exceptions);
for my $name (sort keys %cases) {
    $case = $name;
    my $finish = cpu() + $seconds;
    $cases{$name}->() while cpu() < $finish;
}
$case = 'threads';
my $finish = cpu() + 1.5 * $seconds;
my @threads = map { threads->create($_, $finish) } \&first_worker, \&second_worker, \&first_worker;
$others .= $_->join for @threads;

# A copy makes code of its own where its parent makes other code.
my $child = fork;
$case = $child ? 'forking' : 'forked';
if (!$child) {
    @rows = ();
    $others = '';
    $number++;
}
$finish = cpu() + $seconds;
again() while cpu() < $finish;
open my $out, '>', $child ? $log : "$log.$$" or die;
print $out rows_as_text(), $others;
close $out;
waitpid $child, 0 if $child;
