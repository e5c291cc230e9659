-- Begin a graph's finalize where none runs. ARGV: graph, ttl ms, forced ('1' or '0'). Returns its number, or 0.
-- It serves the writes so far and the runs that wait now; runs that end later wait for the next one.
local graph, ttl, forced = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local key = graph_key(graph)
local now = now_ms()
if redis.call('HGET', key, 'state') == 'running' then return 0 end
if redis.call('ZCARD', key .. ':waiting') == 0 and not forced then return 0 end
local number = redis.call('HINCRBY', key, 'number', 1)
redis.call('HSET', key, 'state', 'running', 'phase', 'plan', 'began_at', now, 'deadline', now + ttl,
  'began_writes', redis.call('HGET', key, 'writes') or '0', 'report', '{}')
redis.call('HDEL', key, 'error')
redis.call('DEL', key .. ':serving', key .. ':left', key .. ':held', key .. ':tries')
redis.call('ZUNIONSTORE', key .. ':serving', 1, key .. ':waiting')
redis.call('DEL', key .. ':waiting')
redis.call('ZADD', key .. ':left', now + ttl, 0)
redis.call('SADD', 'gm:graphs', graph)
redis.call('HSET', key, 'shards', 1)
return number
