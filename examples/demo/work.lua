-- LuaJIT: alpha, beta and gamma share the time 60 : 30 : 10.
local function alpha(n) local x = 1 for i = 1, 6 * n do x = (x * 31 + i) % 1000003 end return x end
local function beta(n) local x = 1 for i = 1, 3 * n do x = (x * 31 + i) % 1000003 end return x end
local function gamma(n) local x = 1 for i = 1, n do x = (x * 31 + i) % 1000003 end return x end

local seconds = 1
local functions = { alpha, beta, gamma }
local spent = { 0, 0, 0 }
local start = os.clock()
while os.clock() - start < seconds do
  for i, work in ipairs(functions) do
    local before = os.clock()
    work(20000)
    spent[i] = spent[i] + os.clock() - before
  end
end
local total = spent[1] + spent[2] + spent[3]
print(string.format("alpha %.1f beta %.1f gamma %.1f", 100 * spent[1] / total,
  100 * spent[2] / total, 100 * spent[3] / total))
