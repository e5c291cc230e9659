-- Files with an outcome go round again: written ones that the graph lost, failed ones on demand.
-- ARGV: run, indices json, the state that they must have. Returns how many were reopened: none of a run that was
-- cancelled meanwhile, which must not come back to life by that.
local run = ARGV[1]
local now = now_ms()
local reopened = 0
local state, last = unpack(redis.call('HMGET', run_key(run), 'state', 'last_state'))
if state == 'open' or state == 'cancelling' or state == 'cancelled' then return 0 end
if state == 'finalizing' and last == 'cancelled' then return 0 end
for _, index in ipairs(cjson.decode(ARGV[2])) do
  local raw = redis.call('HGET', outcomes_key(run, index), index)
  local outcome = raw and cjson.decode(raw)
  if outcome and outcome.state == ARGV[3] then
    local record = new_record(ARGV[3])
    record.round, record.spent = (outcome.round or 0) + 1, outcome.spent
    check_move(FILE_MOVES, 'a file', ARGV[3], 'waiting')
    redis.call('HDEL', outcomes_key(run, index), index)
    redis.call('HINCRBY', run_key(run), 'ended', -1)
    redis.call('HINCRBY', run_key(run), 'count:' .. ARGV[3], -1)
    -- Its passages are counted anew at its next end.
    local cached = outcome.details and outcome.details.cached
    if cached then redis.call('HINCRBY', run_key(run), 'passages_cached', -cached) end
    if outcome.code == 'internal_error' then redis.call('HINCRBY', run_key(run), 'internal_errors', -1) end
    requeue(run, index, record, now)
    reopened = reopened + 1
  end
end
if reopened > 0 then
  if state ~= 'running' then move_run(run, 'running') end
  redis.call('HDEL', run_key(run), 'ended_at', 'ingested_at', 'error', 'reason')
  redis.call('ZREM', 'gm:ended', run)
  redis.call('ZADD', 'gm:active', redis.call('ZSCORE', 'gm:runs', run), run)
  -- It waits for a finalize that begins after its last write, not for the one that is under way.
  local key = graph_key(redis.call('HGET', run_key(run), 'graph'))
  redis.call('ZREM', key .. ':waiting', run)
  redis.call('ZREM', key .. ':serving', run)
end
return reopened
