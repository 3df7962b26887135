-- Run through LUA_INIT by every Lua that a recording starts; acts in LuaJIT only.
-- Writes a line of a perf map for each trace, as soon as it is compiled:
--   START SIZE TRACE_7::alpha work.lua:3 side 5/2
-- Named by the function that the trace starts in. Must never disturb the program:
-- whatever fails, fails quietly.
local directory = ...
local jit = rawget(_G, "jit")
if type(jit) ~= "table" or type(jit.attach) ~= "function" then
	return
end
local has_util, util = pcall(require, "jit.util")
local has_ffi, ffi = pcall(require, "ffi")
if not (has_util and has_ffi and util.tracemc and util.funcinfo) then
	return
end
-- A name of our own: the program may declare getpid() in another way.
if not pcall(ffi.cdef, [[int polyperf_getpid(void) __asm__("getpid");]]) then
	return
end

local open, format, match = io.open, string.format, string.match
local starts = {} -- trace number to where it starts
local entries = {} -- trace number to its line: a forked child writes them again
local map, map_pid
local sources = {} -- path to its lines, or false

local function lines_of(path)
	if sources[path] == nil then
		local file = open(path, "r")
		local lines = {}
		if file then
			for line in file:lines() do
				lines[#lines + 1] = line
			end
			file:close()
		end
		sources[path] = file and lines or false
	end
	return sources[path]
end

-- Functions have no names in Lua: the source text says what theirs was first.
local function name_at(path, number)
	local lines = lines_of(path)
	local line = lines and lines[number]
	if not line then
		return nil
	end
	return match(line, "function%s+([%w_%.:]+)%s*%(") or
		match(line, "([%w_%.]+)%s*=%s*function%s*%(") or
		match(line, "%[%s*[\"']([%w_%.]+)[\"']%s*%]%s*=%s*function%s*%(")
end

local function describe(func, pc)
	local info = util.funcinfo(func, pc)
	if not info.source then
		return "[builtin]"
	end
	local path = match(info.source, "^@(.*)$")
	local place = path or match(info.source, "^=(.*)$") or "[string]"
	local line = info.linedefined
	if line and line > 0 then
		local name = path and name_at(path, line)
		return (name and name .. " " or "") .. place .. ":" .. line
	end
	return "main " .. place .. ":" .. (info.currentline or 0)
end

local function map_of_this_process()
	local pid = ffi.C.polyperf_getpid()
	if pid ~= map_pid then
		map_pid = pid
		map = open(format("%s/perf-%d.map", directory, pid), "w")
		if map then
			for _, entry in pairs(entries) do
				map:write(entry)
			end
		end
	end
	return map
end

local function on_trace(what, trace, func, pc, parent, exit)
	if what == "start" then
		local side = parent and exit and exit >= 0 and format(" side %d/%d", parent, exit) or ""
		starts[trace] = describe(func, pc) .. side
	elseif what == "abort" then
		starts[trace] = nil
	elseif what == "flush" then
		entries = {}
	elseif what == "stop" then
		local code, address = util.tracemc(trace)
		if code then
			local name = starts[trace] or describe(func, pc)
			-- map_of_this_process() may write `entries`: this one joins them after.
			local file = map_of_this_process()
			local entry = format("%x %x TRACE_%d::%s\n", address, #code, trace, name)
			entries[trace] = entry
			if file then
				file:write(entry)
				file:flush()
			end
		end
		starts[trace] = nil
	end
end

jit.attach(function(...)
	pcall(on_trace, ...)
end, "trace")
