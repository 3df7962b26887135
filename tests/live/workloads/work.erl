%% alpha, beta and gamma do 60, 30 and 10 % of the hot loop, in la, lb and lg.
-module(work).
-export([main/0, alpha/2, beta/2, gamma/2, recur/1, 'größe'/1]).

alpha(N, K) -> la(N * 6, K).
la(0, X) -> X;
la(N, X) -> la(N - 1, (X * 31 + N) rem 1000003).

beta(N, K) -> lb(N * 3, K).
lb(0, X) -> X;
lb(N, X) -> lb(N - 1, (X * 31 + N) rem 1000003).

gamma(N, K) -> lg(N, K).
lg(0, X) -> X;
lg(N, X) -> lg(N - 1, (X * 31 + N) rem 1000003).

recur(D) when D < 2 -> D;
recur(D) -> recur(D - 1) + recur(D - 2).

'größe'(N) -> lr(N, 1).
lr(0, X) -> X;
lr(N, X) -> lr(N - 1, (X * 7 + N) rem 9973).

main() ->
    Ms = case init:get_plain_arguments() of
             [Seconds | _] -> list_to_integer(Seconds) * 1000;
             [] -> 3000
         end,
    loop(spent(), Ms, 0, {0, 0, 0}, 0).

%% In milliseconds of the processor: too coarse for one call, but right on average, and a busy
%% machine does not shift the shares.
spent() -> {Total, _} = erlang:statistics(runtime), Total.

timed(Work) ->
    From = spent(),
    Result = Work(),
    {Result, spent() - From}.

loop(Start, Ms, Rounds, {A, B, G}, Sink) ->
    case spent() - Start < Ms of
        true ->
            K = Rounds band 1023,
            {X, TA} = timed(fun() -> alpha(20000, K) end),
            {Y, TB} = timed(fun() -> beta(20000, K) end),
            {Z, TG} = timed(fun() -> gamma(20000, K) end),
            Rest = recur(14) + 'größe'(1000),
            loop(Start, Ms, Rounds + 1, {A + TA, B + TB, G + TG}, Sink + X + Y + Z + Rest);
        false ->
            Total = A + B + G,
            io:format("rounds ~p share alpha ~.1f beta ~.1f gamma ~.1f~n",
                      [Rounds, 100 * A / Total, 100 * B / Total, 100 * G / Total]),
            halt()
    end.
