-- Move a finalize from one phase to the next once every shard of the first has ended.
-- ARGV: graph, number, from, to, shards, ttl ms, seal. Returns 1 for the one caller that moved it; the seal names
-- what that caller stored for the shards, so that a late second caller's lists are never read.
local key = graph_key(ARGV[1])
local r = redis.call('HMGET', key, 'state', 'number', 'phase')
if r[1] ~= 'running' or r[2] ~= ARGV[2] or r[3] ~= ARGV[3] then return 0 end
if redis.call('ZCARD', key .. ':left') > 0 then return 0 end
local now = now_ms()
redis.call('HSET', key, 'phase', ARGV[4], 'shards', ARGV[5], 'deadline', now + tonumber(ARGV[6]), 'seal:' .. ARGV[4], ARGV[7])
redis.call('DEL', key .. ':held', key .. ':tries')
for shard = 0, tonumber(ARGV[5]) - 1 do redis.call('ZADD', key .. ':left', now + tonumber(ARGV[6]), shard) end
return 1
