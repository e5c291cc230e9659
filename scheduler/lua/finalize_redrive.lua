-- Take what stopped moving in a finalize for one new dispatch. ARGV: graph, ttl ms.
-- Returns {number, phase, shard ...}; shard -1 when all have ended but the step after them never ran;
-- an empty list while everything moves, or none runs.
local key, ttl = graph_key(ARGV[1]), tonumber(ARGV[2])
local r = redis.call('HMGET', key, 'state', 'number', 'phase', 'deadline')
if r[1] ~= 'running' then return {} end
local now = now_ms()
local reply = {r[2], r[3]}
for _, shard in ipairs(redis.call('ZRANGEBYSCORE', key .. ':left', '-inf', now)) do
  -- It may just stand in a long queue: patience doubles each time.
  local tries = redis.call('HINCRBY', key .. ':tries', shard, 1)
  redis.call('ZADD', key .. ':left', now + ttl * 2 ^ math.min(tries, 6), shard)
  reply[#reply + 1] = shard
end
if redis.call('ZCARD', key .. ':left') == 0 and tonumber(r[4]) <= now then reply[3] = '-1' end
if #reply == 2 then return {} end
redis.call('HSET', key, 'deadline', now + ttl)
return reply
