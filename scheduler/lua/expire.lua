-- Forget runs that ended long ago. ARGV: oldest ms that stays, most runs a call. Returns how many went.
local gone = redis.call('ZRANGEBYSCORE', 'gm:ended', '-inf', ARGV[1], 'LIMIT', 0, tonumber(ARGV[2]))
for _, run in ipairs(gone) do
  local total = tonumber(redis.call('HGET', run_key(run), 'total') or 0)
  for segment = 0, segment_of(total) do
    redis.call('UNLINK', run_key(run) .. ':manifest:' .. segment, run_key(run) .. ':outcomes:' .. segment)
  end
  redis.call('UNLINK', run_key(run), active_key(run), clock_key(run), due_key(run), batches_key(run),
    run_key(run) .. ':reserved')
  redis.call('ZREM', 'gm:runs', run)
  redis.call('ZREM', 'gm:ended', run)
end
return #gone
