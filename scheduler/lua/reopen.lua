-- Files with an outcome go round again: written ones that the graph lost, failed ones on demand.
-- ARGV: run, indices json, the state that they must have. Returns how many were reopened.
local run = ARGV[1]
local now = now_ms()
local reopened = 0
for _, index in ipairs(cjson.decode(ARGV[2])) do
  local raw = redis.call('HGET', outcomes_key(run, index), index)
  if raw and cjson.decode(raw).state == ARGV[3] then
    redis.call('HDEL', outcomes_key(run, index), index)
    redis.call('HINCRBY', run_key(run), 'ended', -1)
    redis.call('HINCRBY', run_key(run), 'count:' .. ARGV[3], -1)
    requeue(run, index, new_record(), now)
    reopened = reopened + 1
  end
end
if reopened > 0 then
  redis.call('HSET', run_key(run), 'state', 'running')
  redis.call('HDEL', run_key(run), 'ended_at', 'ingested_at', 'error', 'reason')
  redis.call('ZREM', 'gm:ended', run)
  redis.call('ZADD', 'gm:active', redis.call('ZSCORE', 'gm:runs', run), run)
  -- It waits for a finalize that begins after its last write, not for the one that is under way.
  local key = graph_key(redis.call('HGET', run_key(run), 'graph'))
  redis.call('ZREM', key .. ':waiting', run)
  redis.call('ZREM', key .. ':serving', run)
end
return reopened
