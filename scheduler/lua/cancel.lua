-- Cancel a run, one portion a call. ARGV: run, most files a call, '1' to begin ('0': only go on). Returns how many files are still without outcome.
-- What is waiting or queued ends here; what a worker holds ends with its stage or its lease (settle, sweep).
local run, limit = ARGV[1], tonumber(ARGV[2])
local now = now_ms()
local state = redis.call('HGET', run_key(run), 'state')
if ARGV[3] == '1' and (state == 'open' or state == 'running' or state == 'paused') then
  move_run(run, 'cancelling')
  redis.call('HDEL', run_key(run), 'reason')
  redis.call('ZADD', 'gm:active', redis.call('ZSCORE', 'gm:runs', run), run)
  state = 'cancelling'
end
if state ~= 'cancelling' then return 0 end
local r = redis.call('HMGET', run_key(run), 'next', 'total')
local next_index, total = tonumber(r[1]), tonumber(r[2])
while next_index < total and limit > 0 do
  if not has_outcome(run, next_index) then cancel_file(run, next_index, nil, now) end
  next_index, limit = next_index + 1, limit - 1
end
redis.call('HSET', run_key(run), 'next', next_index)
for _, raw in ipairs(redis.call('ZRANGEBYSCORE', due_key(run), '-inf', '+inf', 'LIMIT', 0, limit)) do
  local record = load_record(run, tonumber(raw))
  if not (record and record.wrote) then cancel_file(run, tonumber(raw), record, now) end
end
for _, raw in ipairs(redis.call('ZRANGE', clock_key(run), 0, -1)) do
  local record = load_record(run, tonumber(raw))
  if record and record.state == 'queued' then cancel_file(run, tonumber(raw), record, now) end
end
settle_run(run, now)
local counts = redis.call('HMGET', run_key(run), 'total', 'ended')
return tonumber(counts[1]) - tonumber(counts[2])
