# Calls of all kinds, until it has had as many seconds of the processor as its argument says.
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
my $seconds = $ARGV[0];

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
# A builtin: no function that would be seen.
while ((times)[0] < $seconds) {
    $caller->method(60);
    my @sorted = sort { $by->($a) <=> $by->($b) } 3, 1, 2;
    eval { leaf(60); die "thrown\n"; };
    eval "leaf(61); 1" or die;
}
