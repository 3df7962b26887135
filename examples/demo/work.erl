%% alpha, beta and gamma share the time 60 : 30 : 10.
-module(work).
-export([main/0]).

alpha(0, X) -> X;
alpha(N, X) -> alpha(N - 1, (X * 31 + N) rem 1000003).

beta(0, X) -> X;
beta(N, X) -> beta(N - 1, (X * 31 + N) rem 1000003).

gamma(0, X) -> X;
gamma(N, X) -> gamma(N - 1, (X * 31 + N) rem 1000003).

main() ->
    Seconds = 1,
    End = erlang:monotonic_time(millisecond) + 1000 * Seconds,
    {A, B, C} = loop(End, {0, 0, 0}),
    Total = A + B + C,
    io:format("alpha ~.1f beta ~.1f gamma ~.1f~n",
              [100 * A / Total, 100 * B / Total, 100 * C / Total]),
    halt().

loop(End, {A, B, C} = Spent) ->
    case erlang:monotonic_time(millisecond) < End of
        true ->
            loop(End, {A + time(fun() -> alpha(60000, 1) end),
                       B + time(fun() -> beta(30000, 1) end),
                       C + time(fun() -> gamma(10000, 1) end)});
        false ->
            Spent
    end.

time(Work) ->
    Before = erlang:monotonic_time(),
    Work(),
    erlang:monotonic_time() - Before.
