-- Calls of all kinds, until it has had as many seconds of the processor as its argument says.
local ffi = require("ffi")
ffi.cdef("struct timespec { long sec, nsec; }; int clock_gettime(int, struct timespec *);")
local now_at = ffi.new("struct timespec")

local function now()
	ffi.C.clock_gettime(2, now_at)
	return tonumber(now_at.sec) + tonumber(now_at.nsec) * 1e-9
end

local function leaf(count)
	local total = 0
	for i = 1, count do
		total = total + i * i
	end
	return total
end

local function deep(count)
	if count == 0 then
		return (leaf(900))
	end
	local below = deep(count - 1)
	return below + 1
end

local function by(a, b)
	return leaf(20 + a) < leaf(20 + b)
end

local function replace(word)
	return tostring(leaf(#word))
end

local function sum(...)
	local total = leaf(300)
	for i = 1, select("#", ...) do
		total = total + math.sin((select(i, ...)))
	end
	return total
end

local function thrown(count)
	leaf(count)
	error("thrown")
end

local function produce(count)
	for i = 1, 3 do
		coroutine.yield(leaf(count + i))
	end
end

local Text = setmetatable({}, {
	__index = function(_, key)
		return (leaf(#key))
	end,
})

local function tail(count)
	return deep(count)
end

local function work()
	table.sort({ 3, 1, 2, 5, 4 }, by)
	string.gsub("some words of text", "%a+", replace)
	sum(1, 2, 3)
	pcall(thrown, 40)
	local values = coroutine.wrap(produce)
	values(50)
	values(50)
	values(50)
	local _ = Text.something
	local total = tail(3)
	return total
end

local finish = now() + tonumber(arg[1])
while now() < finish do
	work()
end
