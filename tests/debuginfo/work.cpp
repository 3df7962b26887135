// Inlining of all kinds: templates, lambdas, constructors, exceptions, cold parts, local classes.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct item {
	int key;
	std::string text;
	bool operator<(const item &other) const { return key < other.key; }
};

inline int mix(int x)
{
	return x * 31 + (x >> 3);
}

template <class T> class tree {
	struct node {
		T value;
		std::unique_ptr<node> left, right;
	};
	std::unique_ptr<node> root;

	static void walk(const node *at, const std::function<void(const T &)> &each)
	{
		if (!at)
			return;
		walk(at->left.get(), each);
		each(at->value);
		walk(at->right.get(), each);
	}

      public:
	void put(T value)
	{
		std::unique_ptr<node> *at = &root;
		while (*at)
			at = value < (*at)->value ? &(*at)->left : &(*at)->right;
		at->reset(new node{ std::move(value), nullptr, nullptr });
	}
	void each(const std::function<void(const T &)> &f) const { walk(root.get(), f); }
};

template <int N> struct steps {
	static inline int take(int x) { return steps<N - 1>::take(mix(x) ^ N); }
};
template <> struct steps<0> {
	static inline int take(int x) { return x; }
};

} // namespace

int sum_of_keys(const std::vector<item> &items)
{
	struct adder {
		int sum = 0;
		void add(int x)
		{
			if (x == 0x7fffffff)
				throw std::runtime_error("too much: " + std::to_string(x));
			sum += steps<5>::take(x);
		}
	} a;
	for (const item &i : items)
		a.add(i.key);
	return a.sum;
}

int words(const std::vector<item> &items)
{
	std::unordered_map<std::string, int> counts;
	std::map<int, std::vector<std::string>> by_length;
	for (const item &i : items)
		counts[i.text.substr(0, 2)] += mix(i.key);
	for (const auto &[text, count] : counts)
		by_length[count % 16].push_back(text);
	return std::accumulate(by_length.begin(), by_length.end(), 0,
			       [](int sum, const auto &pair) {
				       return sum + pair.first * (int)pair.second.size();
			       });
}

#ifdef WITH_UNUSED
// Large, and nobody calls it: with --gc-sections its lines stay behind, for address 0.
int unused_function(std::vector<std::string> &texts)
{
	std::stable_sort(texts.begin(), texts.end());
	std::map<std::string, std::map<int, std::string>> all;
	for (std::string &text : texts)
		all[text][mix((int)text.size())] = text + std::to_string(text.size());
	std::string joined;
	for (auto &[name, inner] : all)
		for (auto &[key, text] : inner)
			joined += name + std::to_string(key) + text;
	return (int)joined.size();
}
#endif

int main(int argc, char **)
{
	int total = 0;
	for (int round = 0; round < 20 * argc; round++) {
		std::vector<item> items;
		for (int i = 0; i < 10000; i++)
			items.push_back({ mix(i ^ round * 77), std::to_string(i) });
		std::sort(items.begin(), items.end(),
			  [](const item &a, const item &b) { return mix(a.key) < mix(b.key); });
		tree<item> sorted;
		for (item &i : items)
			sorted.put({ i.key * 7919 % 10007, i.text });
		sorted.each([&](const item &i) { total ^= i.key; });
		try {
			total += sum_of_keys(items) + words(items);
		} catch (const std::exception &e) {
			std::puts(e.what());
		}
	}
	std::printf("%d\n", total);
}
