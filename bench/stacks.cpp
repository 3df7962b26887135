// Two threads with stacks of all kinds: the library's templates and functions, callbacks from C,
// virtual calls, recursion, exceptions. Compiled without frame pointers.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define OUT_OF_LINE __attribute__((noinline))

namespace
{

OUT_OF_LINE int fail_sometimes(int number)
{
	if (number % 7 == 0)
		throw std::runtime_error("failed at " + std::to_string(number));
	return number + 1;
}

OUT_OF_LINE size_t catch_all(int count)
{
	size_t sum = 0;
	for (int i = 0; i < count; i++) {
		try {
			sum += static_cast<size_t>(fail_sometimes(i));
		} catch (const std::exception &error) {
			sum += std::string(error.what()).size();
		}
	}
	return sum;
}

OUT_OF_LINE size_t recurse(int depth, const std::function<size_t(int)> &at_the_end)
{
	char text[64];
	snprintf(text, sizeof(text), "at depth %d", depth);
	return depth ? recurse(depth - 1, at_the_end) + static_cast<size_t>(text[0])
		     : at_the_end(depth);
}

OUT_OF_LINE size_t sort_words(std::mt19937 &random)
{
	std::vector<std::string> words;
	for (int i = 0; i < 2000; i++)
		words.push_back(std::to_string(random()));
	std::sort(words.begin(), words.end(), [](const auto &a, const auto &b) { return a > b; });
	std::map<std::string, int> counts;
	for (const auto &word : words)
		counts[word]++;
	return counts.size();
}

OUT_OF_LINE size_t write_and_read(int count)
{
	std::ostringstream out;
	for (int i = 0; i < count; i++)
		out << i * 1.5 << ' ' << i;
	std::istringstream in(out.str());
	size_t read = 0;
	for (double value; in >> value;)
		read++;
	return read;
}

int compare(const void *left, const void *right)
{
	return *static_cast<const int *>(left) - *static_cast<const int *>(right);
}

OUT_OF_LINE size_t sort_by_callback(std::mt19937 &random)
{
	std::vector<int> numbers(3000);
	for (auto &number : numbers)
		number = static_cast<int>(random() & 0xffffff);
	qsort(numbers.data(), numbers.size(), sizeof(numbers[0]), compare);
	return static_cast<size_t>(numbers[5]);
}

struct work {
	virtual ~work() = default;
	virtual size_t run(std::mt19937 &random) = 0;
};

struct words : work {
	size_t run(std::mt19937 &random) override
	{
		return sort_words(random) + write_and_read(300);
	}
};

struct numbers : work {
	size_t run(std::mt19937 &random) override
	{
		return sort_by_callback(random) + catch_all(200) +
		       recurse(60, [](int n) { return std::to_string(n * 2.5).size(); });
	}
};

void spin(unsigned seed, std::chrono::duration<double> time)
{
	std::mt19937 random(seed);
	words first;
	numbers second;
	work *const works[] = { &first, &second };
	volatile size_t sum = 0;
	const auto end = std::chrono::steady_clock::now() + time;
	for (size_t round = 0; std::chrono::steady_clock::now() < end; round++)
		sum = sum + works[round % 2]->run(random);
}

} // namespace

int main(int argc, char **argv)
{
	const std::chrono::duration<double> time(argc > 1 ? atof(argv[1]) : 3);
	std::thread other(spin, 2u, time);
	spin(1, time);
	other.join();
}
