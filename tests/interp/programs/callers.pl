# Calls of all kinds, until the time that is its argument is over (seconds).
package Some::Caller;
use strict;
use warnings;

sub new { return bless {}, shift }

sub method {
    my ($self, $count) = @_;
    my @all = map {
        main::leaf($_)
    } $count .. $count + 3;
    return @all;
}

package main;
use Time::HiRes 'time';

sub leaf {
    my $count = shift;
    my $total = 0;
    for my $i (1 .. $count) {
        $total += $i * $i;
    }
    return $total;
}

my $by = sub {
    return leaf(60 + $_[0]);
};

my $caller = Some::Caller->new;
my $end = time() + $ARGV[0];
while (time() < $end) {
    $caller->method(60);
    my @sorted = sort { $by->($a) <=> $by->($b) } 3, 1, 2;
    eval { leaf(60); die "thrown\n"; };
    eval "leaf(61); 1" or die;
}
