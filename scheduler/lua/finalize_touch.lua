-- A shard moves: it is due for a new dispatch only after `ttl` from now (small: it gives up and waits).
-- ARGV: graph, number, phase, shard, ttl ms. Returns 1 while the shard is still to be done.
local key = graph_key(ARGV[1])
local r = redis.call('HMGET', key, 'state', 'number', 'phase')
if r[1] ~= 'running' or r[2] ~= ARGV[2] or r[3] ~= ARGV[3] then return 0 end
if not redis.call('ZSCORE', key .. ':left', ARGV[4]) then return 0 end
local now, ttl = now_ms(), tonumber(ARGV[5])
redis.call('ZADD', key .. ':left', now + ttl, ARGV[4])
redis.call('HSET', key .. ':held', ARGV[4], now + ttl)
redis.call('HSET', key, 'deadline', now + ttl)
return 1
