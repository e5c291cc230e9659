-- Take back what nobody works on any more. ARGV: run, max starts, limit. Returns {lost messages, lost workers, dead letters}.
local run, max_starts, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local messages, workers, dead = 0, 0, 0
local cancelling = redis.call('HGET', run_key(run), 'state') == 'cancelling'
for _, raw in ipairs(redis.call('ZRANGEBYSCORE', clock_key(run), '-inf', now, 'LIMIT', 0, limit)) do
  local index = tonumber(raw)
  local record = load_record(run, index)
  if not record then
    redis.call('ZREM', clock_key(run), index)
  elseif cancelling then
    cancel_file(run, index, record, now)
  elseif record.state == 'queued' then
    messages = messages + 1
    record.requeues = record.requeues + 1
    requeue(run, index, record, now)
  elseif record.starts >= max_starts then
    dead = dead + 1
    finish(run, index, worker_lost(record.starts), record, now)
  else
    workers = workers + 1
    record.solo = true
    requeue(run, index, record, now)
  end
end
settle_run(run, now)
return {messages, workers, dead}
