-- Forget the files of a run whose listing was interrupted. ARGV: run. Returns the number of the new listing: what
-- the one before appends or seals from now on is refused.
local run = ARGV[1]
local state, total = unpack(redis.call('HMGET', run_key(run), 'state', 'total'))
if state ~= 'open' then return redis.error_reply('NOTOPEN the run is sealed already') end
for first = 0, tonumber(total), SEGMENT do
  redis.call('UNLINK', manifest_key(run, first), outcomes_key(run, first))
end
for _, name in ipairs(redis.call('HKEYS', run_key(run))) do
  if name:sub(1, 6) == 'count:' then redis.call('HDEL', run_key(run), name) end
end
redis.call('HSET', run_key(run), 'total', 0, 'next', 0, 'ended', 0, 'internal_errors', 0)
return redis.call('HINCRBY', run_key(run), 'generation', 1)
