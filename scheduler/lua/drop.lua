-- Forget what is known of a graph that was removed: its finalize and its leases. ARGV: graph. Returns how many runs
-- had ended with it; they keep their history, marked as of the past.
-- The number of the last finalize stays, as sealed merges and messages that come late go by it.
local graph = ARGV[1]
local key = graph_key(graph)
local lease = key:gsub('^gm:graph:', 'gm:lease:')
local number = redis.call('HGET', key, 'number')
for _, part in ipairs({'', ':waiting', ':serving', ':left', ':held', ':tries'}) do redis.call('DEL', key .. part) end
for _, part in ipairs({'', ':shared', ':wait:x', ':wait:s', ':turn'}) do redis.call('DEL', lease .. part) end
if number then redis.call('HSET', key, 'number', number) end
redis.call('SREM', 'gm:graphs', graph)
local runs = 0
for _, run in ipairs(redis.call('ZRANGE', 'gm:ended', 0, -1)) do
  if redis.call('HGET', run_key(run), 'graph') == graph then
    redis.call('HSET', run_key(run), 'dropped', 1)
    runs = runs + 1
  end
end
return runs
