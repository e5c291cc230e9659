-- Keys and functions that the scripts of calls share. Times are milliseconds of the server's clock. Money is
-- reckoned in whole billionths of a dollar, so that sums are exact; `llm_usd` and `llm_lost_usd` show it in dollars.
-- gm:model:M           hash: allowed (calls in flight, where back-off lowered it), halved_at, stop_until; failures
--                      (in a row), proven_at (last success), probe (permit), probes (that failed), probe_at (next one),
--                      refusal (what the service said); window_tokens (sum over the window)
-- gm:model:M:flying    permits by expiry: those of dead workers go by themselves
-- gm:model:M:window    'permit tokens' by the time of leave
-- gm:run:R             llm_* of the run's hash: what its calls came to (also lost: those whose cost nobody knows, at
--                      their bound), and what is reserved
--                      R is a run, or finalize:GRAPH:NUMBER, the account of a finalize, which expires
-- gm:run:R:reserved    'permit tokens nano' by expiry; nano is '?' where the price is unknown
-- ARGV of all: model, run, permit, bound in tokens, bound in nano ('' unknown), tokens counted for the minute
local model, run, permit = 'gm:model:' .. ARGV[1], 'gm:run:' .. ARGV[2], ARGV[3]
local flying, window, reserved = model .. ':flying', model .. ':window', run .. ':reserved'
local estimate = tonumber(ARGV[6])
local place = permit .. ' ' .. ARGV[6]
local reservation = permit .. ' ' .. ARGV[4] .. ' ' .. (ARGV[5] == '' and '?' or ARGV[5])
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)

local function whole(number) return string.format('%.0f', number) end
local function nano_of(usd) return math.floor(tonumber(usd or 0) * 1e9 + 0.5) end
local function add(field, number)
  if number ~= 0 then redis.call('HINCRBY', run, field, whole(number)) end
end
-- Nine digits after the point, and below 9 million dollars a double holds them all.
local function add_usd(field, nano)
  if nano ~= 0 then
    redis.call('HSET', run, field, string.format('%.9f', (nano_of(redis.call('HGET', run, field)) + nano) / 1e9))
  end
end

local function reserve(entry, sign)
  local tokens, nano = entry:match(' (%S+) (%S+)$')
  add('llm_reserved_tokens', sign * tonumber(tokens))
  add('llm_reserved_nano', sign * (tonumber(nano) or 0))
end

-- Nobody knows what the call cost: the budget counts the most that it may have.
local function lose(entry)
  local tokens, nano = entry:match(' (%S+) (%S+)$')
  add('llm_lost', 1)
  add('llm_lost_tokens', tonumber(tokens))
  if nano == '?' then add('llm_unpriced', 1) else add_usd('llm_lost_usd', tonumber(nano)) end
end

local function drop_dead()
  redis.call('ZREMRANGEBYSCORE', flying, '-inf', now)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', reserved, '-inf', now)) do
    redis.call('ZREM', reserved, entry)
    reserve(entry, -1)
    add('llm_calls', 1)
    add('llm_failed', 1)
    lose(entry)
  end
end
