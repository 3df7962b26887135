-- Logs which function and line ran when: truth.lua LOG SECONDS; the log's form is in truth.py. Functions are
-- called by where they are written. Compiled code has no lines: this is interpreted.
require("jit").off()
local ffi = require("ffi")
ffi.cdef([[
struct timespec { long sec, nsec; };
int clock_gettime(int, struct timespec *);
int getpid(void);
int fork(void);
int waitpid(int, int *, int);
void qsort(void *, size_t, size_t, int (*)(const int *, const int *));
]])
local C = ffi.C
local at = ffi.new("struct timespec")
local N = 60000 -- a loop takes about a millisecond
local log, seconds = arg[1], tonumber(arg[2])
local rows, case, number = {}, "", 0
x = 0 -- global: what is made at run time adds to it

local function now()
	C.clock_gettime(1, at)
	return tonumber(at.sec) * 1e9 + tonumber(at.nsec)
end

-- How long cases run: a busy machine must not make them fewer samples.
local function cpu()
	C.clock_gettime(2, at)
	return tonumber(at.sec) * 1e9 + tonumber(at.nsec)
end

-- "f@mark" of a function with the place where it is written.
local function place(f)
	local info = debug.getinfo(f, "S")
	return info.short_src:match("[^/]*$") .. ":" .. info.linedefined
end

local function note(begin, finish, stacks)
	rows[#rows + 1] = ("%s\t%d\t%.0f\t%.0f\t%s\n"):format(case, C.getpid(), begin, finish, stacks)
end

local function work(n)
	for i = 1, n do x = x + i * i end -- @work
end

local lines
function lines()
	local n, here = N, place(lines)
	local begin = now()
	for i = 1, n do x = x + i * i end -- @for
	note(begin, now(), here .. "@for ...")
	local i = n
	begin = now()
	while i > 0 do i = i - 1 end -- @while
	note(begin, now(), here .. "@while ...")
	i = n
	begin = now()
	repeat i = i - 1 until i == 0 -- @repeat
	note(begin, now(), here .. "@repeat ...")
	begin = now()
	for k = 1, n / 4 do x = math.sin(x) + math.floor(k) end -- @called
	note(begin, now(), here .. "@called ...")
	local all = {}
	begin = now()
	for k = 1, n / 4 do all[k] = k .. "" end -- @strings
	note(begin, now(), here .. "@strings ...")
	begin = now()
	table.sort(all) -- @sort
	note(begin, now(), here .. "@sort ...")
	begin = now()
	for k = 1, n / 4 do x = x + #all end -- @length
	note(begin, now(), here .. "@length ...")
	begin = now()
	for k = 1, n / 40 do local t = { k, { k } } end -- @tables
	note(begin, now(), here .. "@tables ...")
	begin = now()
	for k = 1, n / 2 do -- @head
		if k % 2 == 0 then -- @test
			x = x + 1 -- @even
		else
			x = x - 1 -- @odd
		end
	end
	note(begin, now(), ("%s@head ...|%s@test ...|%s@even ...|%s@odd ..."):format(here, here, here, here))
end

-- Functions whose lines are far apart: with tables of lines of one, two and four bytes.
local function scattered_function(last)
	local text, line, places = { "return function(n, now, note, here)\nlocal begin\n" }, 3, {}
	for k = 0, 23 do
		local gap = ({ 1, 2, 7, 10, 3, 30, 3, 1 })[k % 8 + 1] * (last > 200 and 10 or 1)
		if k == 12 then gap = gap + last end
		text[#text + 1] = "begin = now()" .. ("\n"):rep(gap) .. "for i = 1, n do x = x + i * " .. k .. " end\n" ..
			"note(begin, now(), here .. ':" .. line + gap .. "=scattered ...')\n"
		line = line + gap + 2
	end
	return assert(load(table.concat(text) .. "end", "=scattered"))()
end
local scattereds = { scattered_function(1), scattered_function(300), scattered_function(70000) }

local function scattered()
	for _, f in ipairs(scattereds) do f(N / 2, now, note, place(f)) end
end

-- Code that is made, run once and thrown away, so that the next has its place.
local function run(text, chunk, n)
	local f = assert(load(text, "=" .. chunk))()
	local begin = now()
	f(n)
	local finish, info = now(), debug.getinfo(f, "SL")
	for line in pairs(info.activelines) do
		if line > info.linedefined then
			note(begin, finish, ("%s:%d:%d=%s ..."):format(chunk, info.linedefined, line, chunk))
			return
		end
	end
end

local function made()
	number = number + 1
	run(("\n"):rep(number % 300) .. "return function(n)\nfor i = 1, n do x = x + i * i end end", "made", N / 2)
end

-- The same, with nothing but one thing that differs: where the loop is, the file, where the function is.
local function again()
	number = number + 1
	local loop = "for i = 1, n do x = x + i * i end end"
	run("return function(n)" .. ("\n"):rep(number * 37 % 90 + 1) .. loop, "made", N / 2)
	run("return function(n)\n" .. loop, "file" .. number % 10, N / 2)
	run(("\n"):rep(number % 10) .. "return function(n)\n" .. loop, "made", N / 2)
end

local function produce(n)
	for _ = 1, 3 do
		local begin = now()
		for i = 1, N do x = x + i * i end -- @produced
		coroutine.yield(begin, now())
	end
end

local generators
function generators()
	local here, there = place(generators), place(produce)
	for begin, finish in coroutine.wrap(produce), N do -- @wrapped
		note(begin, finish, there .. "@produced " .. here .. "@wrapped ...")
	end
	local co = coroutine.create(function() return produce(N) end)
	local _, begin, finish = coroutine.resume(co) -- @resumed
	note(begin, finish, there .. "@produced " .. here .. "@resumed ...")
	local function between()
		local inner = coroutine.wrap(produce)
		coroutine.yield(inner(N)) -- @inner
	end
	begin, finish = coroutine.wrap(between)() -- @outer
	note(begin, finish, there .. "@produced " .. place(between) .. "@inner " .. here .. "@outer ...")
end

local down
function down(depth, levels)
	if depth > 0 then
		local below = down(depth - 1, levels) -- @down
		return below
	end
	local here = place(down)
	local begin = now()
	for i = 1, N do x = x + i * i end -- @bottom
	note(begin, now(), here .. "@bottom " .. (here .. "@down "):rep(levels) .. recursion_place .. "@dive ...")
	return 1
end

local function recursion()
	for _, levels in ipairs({ 1, 5, 30, 200 }) do
		local _ = down(levels, levels) -- @dive
	end
end
recursion_place = place(recursion)

local function varargs(...)
	local begin = now()
	for i = 1, N do x = x + i * i end -- @varargs
	note(begin, now(), place(varargs_of) .. "@varargs " .. callbacks_place .. "@variable ...")
	return ...
end
varargs_of = varargs

-- Called from C, or by what looks like no call.
local Thing = {}
local function called(mark, caller)
	local f
	f = function()
		local begin = now()
		for i = 1, N do x = x + i * i end -- @body
		note(begin, now(), place(f) .. "@body " .. callbacks_place .. "@" .. caller .. " ...")
		return mark
	end
	return f
end
Thing.__index = called("a", "index")
Thing.__newindex = called(nil, "newindex")
Thing.__add = called(1, "add")
Thing.__concat = called("a", "concat")
Thing.__eq = called(true, "eq")
Thing.__lt = called(true, "lt")
Thing.__call = called(1, "call")
Thing.__unm = called(1, "unm")
local Text = { __tostring = called("a", "tostring") }
local compare, replace, each, handle = called(false, "sorted"), called("b", "substitute"), called(nil, "each"),
	called("handled", "handler")
local read, finalize = called(nil, "reader"), called(nil, "collected")
local by_c = ffi.cast("int (*)(const int *, const int *)", (function()
	local f
	f = function()
		local begin = now()
		for i = 1, N do x = x + i * i end -- @by_c
		note(begin, now(), place(f) .. "@by_c " .. callbacks_place .. "@qsort ...")
		return 0
	end
	return f
end)())
local numbers = ffi.new("int[2]", 2, 1)

local function callbacks()
	table.sort({ 2, 1 }, compare) -- @sorted
	local y = ("a"):gsub("a", replace) -- @substitute
	local thing, other = setmetatable({}, Thing), setmetatable({}, Thing)
	y = thing.absent -- @index
	thing.absent = 1 -- @newindex
	y = thing + 1 -- @add
	y = "a" .. thing -- @concat
	y = thing == other -- @eq
	y = thing < other -- @lt
	y = thing() -- @call
	y = -thing -- @unm
	y = tostring(setmetatable({}, Text)) -- @tostring
	for _ in each do end -- @each
	y = load(read) -- @reader
	y = xpcall(error, handle, "thrown") -- @handler
	y = varargs(1, nil, 3) -- @variable
	C.qsort(numbers, 2, 4, by_c) -- @qsort
	local proxy = newproxy(true)
	getmetatable(proxy).__gc = finalize
	proxy = nil
	collectgarbage() -- @collected
end
callbacks_place = place(callbacks)

local function throw(depth)
	if depth > 0 then throw(depth - 1) end
	error("thrown")
end

local exceptions
function exceptions()
	local here = place(exceptions)
	local inside
	inside = function()
		local begin = now()
		for i = 1, N do x = x + i * i end -- @inside
		note(begin, now(), place(inside) .. "@inside " .. here .. "@pcall ...")
		throw(20)
	end
	pcall(inside) -- @pcall
	local begin = now()
	for i = 1, N do x = x + i * i end -- @after
	note(begin, now(), here .. "@after ...")
	begin = now()
	for _ = 1, 40 do pcall(throw, 20) end
	begin = now()
	work(N) -- @last
	note(begin, now(), place(work) .. "@work " .. here .. "@last ...")
end

local cases = { lines = lines, scattered = scattered, made = made, again = again, generators = generators,
	recursion = recursion, callbacks = callbacks, exceptions = exceptions }
-- Until the recorder has seen what this is.
local ready = now() + 2e8
while now() < ready do end
for name, f in pairs(cases) do
	case = name
	local finish = cpu() + seconds * 1e9
	while cpu() < finish do f() end
end

-- A copy makes code of its own where its parent makes other code.
local child = C.fork()
case = child ~= 0 and "forking" or "forked"
if child == 0 then
	rows, number = {}, number + 1
	log = log .. "." .. C.getpid()
end
local finish = cpu() + seconds * 1e9
while cpu() < finish do again() end
local out = assert(io.open(log, "w"))
out:write(table.concat(rows))
out:close()
if child ~= 0 then C.waitpid(child, nil, 0) end
