-- alpha, beta and gamma do 60, 30 and 10 % of the hot loop.
local function alpha(n, k) local x = k for i = 0, n * 6 - 1 do x = (x * 31 + i) % 1000003 end return x end
local function beta(n, k) local x = k for i = 0, n * 3 - 1 do x = (x * 31 + i) % 1000003 end return x end
local function gamma(n, k) local x = k for i = 0, n - 1 do x = (x * 31 + i) % 1000003 end return x end
local function recur(d) if d < 2 then return d end return recur(d - 1) + recur(d - 2) end

local seconds = tonumber(arg and arg[1]) or 3
local spent, rounds, sink = { 0, 0, 0 }, 0, 0
local start = os.clock()
while os.clock() - start < seconds do
  for index, work in ipairs { alpha, beta, gamma } do
    local from = os.clock()
    sink = sink + work(40000, rounds % 1024)
    spent[index] = spent[index] + os.clock() - from
  end
  sink = sink + recur(12)
  rounds = rounds + 1
end
local total = spent[1] + spent[2] + spent[3]
print(string.format("rounds %d share alpha %.1f beta %.1f gamma %.1f sink %d", rounds,
  100 * spent[1] / total, 100 * spent[2] / total, 100 * spent[3] / total, sink % 1000))
