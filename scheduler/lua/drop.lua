-- Forget what is known of a graph that is about to be removed: its finalize. ARGV: graph.
-- Returns {'run', id, state} or {'finalize'} where one works on it, and changes nothing then; else {'dropped', number of
-- runs that had ended with it}. Those keep their history, marked as of the past.
-- In one step, lest a run that ends in between waits for a finalize that nobody knows of any more.
-- The number of the last finalize stays, as sealed merges and messages that come late go by it.
local graph = ARGV[1]
local key = graph_key(graph)
for _, run in ipairs(redis.call('ZRANGE', 'gm:active', 0, -1)) do
  local of, state = unpack(redis.call('HMGET', run_key(run), 'graph', 'state'))
  if of == graph then return {'run', run, state} end
end
if redis.call('HGET', key, 'state') == 'running' then return {'finalize'} end
local number = redis.call('HGET', key, 'number')
for _, part in ipairs({'', ':waiting', ':serving', ':left', ':held', ':tries'}) do redis.call('DEL', key .. part) end
if number then redis.call('HSET', key, 'number', number) end
redis.call('SREM', 'gm:graphs', graph)
local runs = 0
for _, run in ipairs(redis.call('ZRANGE', 'gm:ended', 0, -1)) do
  if redis.call('HGET', run_key(run), 'graph') == graph then
    redis.call('HSET', run_key(run), 'dropped', 1)
    runs = runs + 1
  end
end
return {'dropped', runs}
