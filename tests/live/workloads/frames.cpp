/* All the shapes of native frames, each for its share of the time: frames.cpp [SECONDS [PART]...].
 *
 * Built without frame pointers and with them; frames_lib.cpp is a shared library called through
 * its PLT. A program that its build lets be unwound right shows the same callers everywhere.
 */
#include "frames.h"

#include <alloca.h>
#include <ucontext.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

volatile unsigned long sink;
volatile unsigned ALWAYS = 1; /* The compiler must not know. */

__attribute__((noinline)) unsigned long spin(unsigned long x, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		x = x * 6364136223846793005ul + (x >> 29) + i;
	sink = x;
	return x;
}

/* --- recursion, none of it a tail call --- */

__attribute__((noinline)) unsigned long recur(unsigned depth, unsigned long x)
{
	volatile unsigned long kept[8] = { x };
	if (!depth)
		return spin(x, 3000);
	return recur(depth - 1, x + depth) * 3 + kept[depth & 7];
}

__attribute__((noinline)) unsigned long fibonacci(unsigned n)
{
	return n < 2 ? spin(n, 20) : fibonacci(n - 1) + fibonacci(n - 2) + 1;
}

/* --- virtual calls, with some registers saved --- */

struct Shape {
	virtual ~Shape() = default;
	virtual unsigned long area(unsigned long x) const = 0;
};

struct Square : Shape {
	unsigned long area(unsigned long x) const override
	{
		return spin(x, 400) + spin(x + 1, 300);
	}
};

struct Nested : Shape {
	std::unique_ptr<Shape> inner;
	explicit Nested(std::unique_ptr<Shape> one) : inner(std::move(one))
	{
	}
	unsigned long area(unsigned long x) const override
	{
		unsigned long kept[6];
		for (unsigned long &one : kept)
			one = inner->area(x += 7);
		return kept[0] ^ kept[1] ^ kept[2] ^ kept[3] ^ kept[4] ^ kept[5];
	}
};

__attribute__((noinline)) void virtual_calls()
{
	std::unique_ptr<Shape> shape = std::make_unique<Square>();
	for (unsigned i = 0; i < 3; i++)
		shape = std::make_unique<Nested>(std::move(shape));
	sink = shape->area(ALWAYS);
}

/* --- callbacks from the library --- */

__attribute__((noinline)) bool is_less(unsigned long a, unsigned long b)
{
	return (spin(a, 12) ^ 0x5555) < (spin(b, 12) ^ 0x5555);
}

int compare(const void *a, const void *b)
{
	const auto x = *static_cast<const unsigned long *>(a);
	const auto y = *static_cast<const unsigned long *>(b);
	return is_less(x, y) ? -1 : 1;
}

__attribute__((noinline)) void sorting()
{
	std::vector<unsigned long> values(400);
	for (unsigned long &value : values)
		value = spin(value + values.size(), 3);
	std::sort(values.begin(), values.end(), is_less);
	std::stable_sort(values.rbegin(), values.rend(), is_less);
	std::qsort(values.data(), values.size() / 2, sizeof(values[0]), compare);
}

/* --- exceptions --- */

struct Guard {
	unsigned long &x;
	~Guard()
	{
		x += spin(x, 200);
	}
};

__attribute__((noinline)) unsigned long thrower(unsigned depth, unsigned long x)
{
	Guard guard{ x };
	if (!depth)
		throw std::runtime_error("deep enough");
	return thrower(depth - 1, x + 1) + spin(x, 10);
}

__attribute__((noinline)) void exceptions()
{
	for (unsigned i = 0; i < 20; i++) {
		try {
			sink = thrower(5 + i % 10, i);
		} catch (const std::exception &error) {
			sink = spin(std::strlen(error.what()), 500);
		}
	}
}

/* --- a signal handler over whatever ran --- */

void on_signal(int)
{
	spin(1, 4000);
}

__attribute__((noinline)) unsigned long interrupted(unsigned depth)
{
	if (depth)
		return interrupted(depth - 1) + depth;
	std::raise(SIGUSR1);
	return spin(2, 1000);
}

__attribute__((noinline)) void signals()
{
	for (unsigned i = 0; i < 10; i++)
		interrupted(8);
}

/* --- stacks that are not the thread's --- */

__attribute__((noinline)) void other_handler()
{
	spin(3, 3000);
}

__attribute__((noinline)) void signals_elsewhere()
{
	static unsigned char bytes[64 * 1024];
	stack_t stack{}, before{};
	stack.ss_sp = bytes;
	stack.ss_size = sizeof(bytes);
	sigaltstack(&stack, &before);
	struct sigaction action {
	};
	action.sa_handler = [](int) { other_handler(); };
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	for (unsigned i = 0; i < 5; i++) {
		std::raise(SIGUSR2);
		spin(i, 500);
	}
	sigaltstack(&before, nullptr);
}

ucontext_t main_context, other_context;

void coroutine()
{
	for (;;) {
		recur(20, 5);
		swapcontext(&other_context, &main_context);
	}
}

__attribute__((noinline)) void coroutines()
{
	static unsigned char bytes[64 * 1024];
	getcontext(&other_context);
	other_context.uc_stack.ss_sp = bytes;
	other_context.uc_stack.ss_size = sizeof(bytes);
	makecontext(&other_context, coroutine, 0);
	for (unsigned i = 0; i < 10; i++)
		swapcontext(&main_context, &other_context);
}

/* --- frames whose size the compiler does not know, or has to align --- */

__attribute__((noinline)) unsigned long with_alloca(unsigned depth, unsigned long x)
{
	const size_t size = 16 + (x % 7) * 48;
	auto *bytes = static_cast<unsigned char *>(alloca(size));
	std::memset(bytes, static_cast<int>(x), size);
	const unsigned long below = depth ? with_alloca(depth - 1, spin(x, 60)) : spin(x, 600);
	return below + bytes[below % size];
}

struct alignas(64) Line {
	unsigned long words[8];
};

__attribute__((noinline)) void fill(Line *line, unsigned long x)
{
	for (unsigned long &word : line->words)
		word = spin(x, 40);
}

__attribute__((noinline)) unsigned long realigned(unsigned depth, unsigned long x, unsigned many,
						  ...)
{
	Line line;
	fill(&line, x + many);
	auto *more = static_cast<unsigned char *>(alloca(32 + x % 3 * 16));
	std::memset(more, 1, 32);
	const unsigned long below =
	    depth ? realigned(depth - 1, line.words[depth & 7], 3, 4, 5) : line.words[0];
	return below + more[below & 31];
}

__attribute__((noinline)) void odd_frames()
{
	sink = with_alloca(12, ALWAYS) + realigned(12, ALWAYS, 1, 2);
}

/* --- another object, entered through the PLT and calling back --- */

unsigned long callback(unsigned long x)
{
	return spin(x, 500);
}

__attribute__((noinline)) void library_calls()
{
	for (unsigned i = 0; i < 200; i++)
		sink = library_tiny(sink);
	sink = library_deep(10, ALWAYS, callback);
	const std::string text(200, static_cast<char>('a' + sink % 26));
	for (unsigned i = 0; i < 50; i++)
		sink = sink + std::strlen(text.c_str()) + std::to_string(sink).size() +
		       static_cast<unsigned long>(std::strtoul("12345678901234", nullptr, 10));
}

/* --- threads --- */

__attribute__((noinline)) void thread_main(unsigned depth)
{
	for (unsigned i = 0; i < 20; i++)
		sink = recur(depth, i);
}

__attribute__((noinline)) void threads()
{
	std::thread one(thread_main, 3), two([] { thread_main(30); });
	one.join();
	two.join();
}

__attribute__((noinline)) void recursion()
{
	sink = fibonacci(12);
}

__attribute__((noinline)) void deep_recursion()
{
	for (unsigned i = 0; i < 20; i++)
		sink = recur(200, i);
}

struct Part {
	const char *name;
	void (*run)();
};

const Part PARTS[] = {
	{ "recursion", recursion },   { "deep", deep_recursion },
	{ "virtual", virtual_calls }, { "sort", sorting },
	{ "exceptions", exceptions }, { "signals", signals },
	{ "odd", odd_frames },        { "library", library_calls },
	{ "threads", threads },       { "elsewhere", signals_elsewhere },
	{ "coroutines", coroutines },
};

double now()
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool is_wanted(const Part &part, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (std::strcmp(argv[i], part.name) == 0)
			return true;
	return argc < 3;
}

} // namespace

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	const double end = now() + seconds;
	std::signal(SIGUSR1, on_signal);
	const size_t count = sizeof(PARTS) / sizeof(PARTS[0]);
	while (now() < end)
		for (const Part &part : PARTS)
			for (const double until = now() + seconds / count / 8;
			     is_wanted(part, argc, argv) && now() < until;)
				part.run();
	std::printf("done %lu\n", sink & 1);
	return 0;
}
