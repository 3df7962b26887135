# Holds what each program said of itself against the report (csv).
BEGIN {
	split("tinyjit jit node v8 bun jsc java jvm dotnet dotnet mono mono php php " \
	      "python python ruby ruby luajit luajit erlang erlang", pairs, " ")
	for (i = 1; i in pairs; i += 2)
		runtime_of[pairs[i]] = pairs[i + 1]
}
FNR == NR { # "node alpha 60.1 beta 29.9 gamma 10.0"
	program[++count] = $1
	said[$1] = NF == 7 ? sprintf("%5.1f %5.1f %5.1f", $3, $5, $7) : "      failed     "
	next
}
FNR == 1 { next } # overhead,samples,runtime,tier,trust,symbol,object
{
	split($0, field, ",")
	name = tolower($0)
	for (f = 1; f <= 3; f++) {
		function_name = substr("alpha beta  gamma ", 6 * f - 5, 6)
		sub(/ +$/, "", function_name)
		if (index(name, function_name))
			time[field[3], f] += field[2]
	}
}
END {
	printf "%-10s %-22s %s\n", "", "the program says", "polyperf says"
	printf "%-10s %-22s %s\n", "", "alpha  beta gamma", "alpha  beta gamma"
	for (i = 1; i <= count; i++) {
		runtime = runtime_of[program[i]]
		sum = time[runtime, 1] + time[runtime, 2] + time[runtime, 3]
		# CPython's functions are callers of the interpreter, where the samples are.
		found = runtime == "python" ? "  (the interpreter)" : "no samples"
		if (sum)
			found = sprintf("%5.1f %5.1f %5.1f", 100 * time[runtime, 1] / sum,
				100 * time[runtime, 2] / sum, 100 * time[runtime, 3] / sum)
		printf "%-10s %-22s %s\n", program[i], said[program[i]], found
	}
}
