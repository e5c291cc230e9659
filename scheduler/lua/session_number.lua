-- Number items of a conversation; an item keeps its number, the items used longest ago are dropped.
-- ARGV: session, capacity, expiry in seconds, then item and record by turns. Gives one number per item.
local home = 'gm:session:' .. ARGV[1] .. ':'
local counter, numbers, items, used = home .. 'counter', home .. 'numbers', home .. 'items', home .. 'used'
local texts = home .. 'texts' -- what a session without records has
local capacity, seconds = tonumber(ARGV[2]), tonumber(ARGV[3])
-- A session exists from its first question on, even if nothing was found.
redis.call('HSETNX', counter, 'number', 0)
local given = {}
for i = 4, #ARGV, 2 do
  local item, record = ARGV[i], ARGV[i + 1]
  local number = redis.call('HGET', numbers, item)
  if not number then
    number = redis.call('HINCRBY', counter, 'number', 1)
    redis.call('HSET', numbers, item, number)
    redis.call('HSET', items, number, record)
  end
  redis.call('ZADD', used, redis.call('HINCRBY', counter, 'use', 1), item)
  given[#given + 1] = tonumber(number)
end
for _ = 1, redis.call('ZCARD', used) - capacity do
  local item = redis.call('ZPOPMIN', used)[1]
  local number = redis.call('HGET', numbers, item)
  redis.call('HDEL', items, number)
  redis.call('HDEL', texts, number)
  redis.call('HDEL', numbers, item)
end
for _, key in ipairs({counter, numbers, items, used, texts}) do
  redis.call('EXPIRE', key, seconds)
end
return given
