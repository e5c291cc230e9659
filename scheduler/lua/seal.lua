-- Seal a run's manifest: from here on its files are dispatched. ARGV: run. Returns the run's state.
local run = ARGV[1]
local now = now_ms()
if redis.call('HGET', run_key(run), 'state') == 'open' then
  move_run(run, 'running')
  redis.call('HSET', run_key(run), 'sealed_at', now)
  redis.call('ZADD', 'gm:active', redis.call('ZSCORE', 'gm:runs', run), run)
  settle_run(run, now)
end
return redis.call('HGET', run_key(run), 'state')
