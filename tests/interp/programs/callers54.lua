-- Who calls whom at which line is what the tests hold stacks against.
local function leaf(n)
  local total = 0
  for i = 1, n do
    total = total + i * i % 7
  end
  return total
end
local function generator(n)
  for i = 1, 3 do
    leaf(n)
    coroutine.yield(i)
  end
end
local function outer_coroutine(n)
  for _ in coroutine.wrap(function() generator(n) end) do
    leaf(n)
  end
end
local function compare(a, b)
  leaf(600)
  return a < b
end
local function replace(text)
  leaf(600)
  return text .. "!"
end
local function thrown(n)
  leaf(n)
  error("thrown")
end
local function deep(n)
  if n == 0 then
    return (leaf(600))
  end
  return 1 + deep(n - 1)
end
local indexed = setmetatable({}, {
  __index = function(_, n) leaf(n) return n end,
})
local function variadic(...)
  leaf((...))
  return select("#", ...)
end
local function main()
  leaf(2000)
  local inner = coroutine.create(outer_coroutine)
  assert(coroutine.resume(inner, 800))
  table.sort({ 3, 1, 2, 5, 4 }, compare)
  string.gsub("a b c", "%a", replace)
  assert(not pcall(thrown, 900))
  deep(30)
  local _ = indexed[900]
  variadic(900, 2, 3)
  load("local leaf = ...\nleaf(900)", "=made")(leaf)
end
local stop = clock() + tonumber((...))
while clock() < stop do
  main()
end
