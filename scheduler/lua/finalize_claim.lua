-- Claim a shard for one execution. ARGV: graph, number, phase, shard, ttl ms. Returns 1, or 0: it is over, or at work.
local key = graph_key(ARGV[1])
local r = redis.call('HMGET', key, 'state', 'number', 'phase')
if r[1] ~= 'running' or r[2] ~= ARGV[2] or r[3] ~= ARGV[3] then return 0 end
if not redis.call('ZSCORE', key .. ':left', ARGV[4]) then return 0 end
local now, ttl = now_ms(), tonumber(ARGV[5])
if tonumber(redis.call('HGET', key .. ':held', ARGV[4]) or 0) > now then return 0 end
redis.call('HSET', key .. ':held', ARGV[4], now + ttl)
redis.call('ZADD', key .. ':left', now + ttl, ARGV[4])
redis.call('HSET', key, 'deadline', now + ttl)
return 1
