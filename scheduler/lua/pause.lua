-- Pause a run, or let it go on. ARGV: run, 'pause' or 'go', reason, ms since the work began that found the reason.
-- What was begun before a person let the run go on tells of the time before. Returns the run's state.
local run = ARGV[1]
local state, resumed_at = unpack(redis.call('HMGET', run_key(run), 'state', 'resumed_at'))
local stale = tonumber(resumed_at or 0) > now_ms() - tonumber(ARGV[4])
if ARGV[2] == 'pause' and state == 'running' and not stale then
  move_run(run, 'paused')
  redis.call('HSET', run_key(run), 'reason', ARGV[3])
elseif ARGV[2] == 'go' and state == 'paused' then
  move_run(run, 'running')
  redis.call('HDEL', run_key(run), 'reason')
  redis.call('HSET', run_key(run), 'resumed_at', now_ms())
  -- Who lets a run go on in spite of its failures has looked at them.
  local r = redis.call('HMGET', run_key(run), 'ended', 'count:failed', 'most_failed')
  if tonumber(r[2] or 0) > tonumber(r[3] or 1) * tonumber(r[1]) then redis.call('HSET', run_key(run), 'most_failed', 1) end
  settle_run(run, now_ms())
end
return redis.call('HGET', run_key(run), 'state')
