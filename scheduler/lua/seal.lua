-- Seal a run's manifest: from here on its files are dispatched. ARGV: run, number of the listing. Returns the run's state.
local run = ARGV[1]
local now = now_ms()
local state, generation = unpack(redis.call('HMGET', run_key(run), 'state', 'generation'))
if state == 'open' then
  if generation ~= ARGV[2] then return redis.error_reply('NOTOPEN another process lists the run anew') end
  move_run(run, 'running')
  redis.call('HSET', run_key(run), 'sealed_at', now)
  redis.call('ZADD', 'gm:active', redis.call('ZSCORE', 'gm:runs', run), run)
  settle_run(run, now)
end
return redis.call('HGET', run_key(run), 'state')
