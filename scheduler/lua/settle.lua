-- End a stage for files of a batch. ARGV: run, holder, queue_ttl ms, rows json.
-- A row is {index, action, payload, seconds, error or null, spent or null}: 'end' with an outcome, 'next' with a reference for the next stage,
-- 'defer' with milliseconds, 'alone' with milliseconds: from now on in a batch of its own. A start that ends here is un-counted. Returns the files whose lease was lost.
local run, holder, queue_ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now = now_ms()
-- Of a run whose passages are read by calls that cost something.
local paid = redis.call('HEXISTS', run_key(run), 'batch_files') == 1
local cancelling = redis.call('HGET', run_key(run), 'state') == 'cancelling'
local lost = {}
for _, row in ipairs(cjson.decode(ARGV[4])) do
  local index, action, payload = row[1], row[2], row[3]
  local record = load_record(run, index)
  if not record or record.holder ~= holder or record.state ~= 'running' then
    -- Settled before by this very call (a repeated script), or taken by another holder.
    if not (record and record.last == holder) then
      local raw = redis.call('HGET', outcomes_key(run, index), index)
      if not raw or cjson.decode(raw).holder ~= holder then lost[#lost + 1] = index end
    end
  else
    record.starts = record.starts - 1
    record.last = holder
    record.times = record.times or {}
    record.times[record.stage] = math.floor(((record.times[record.stage] or 0) + row[4]) * 1000 + 0.5) / 1000
    if row[6] ~= cjson.null then
      record.spent = record.spent or {}
      for name, amount in pairs(row[6]) do record.spent[name] = (record.spent[name] or 0) + amount end
      redis.call('HINCRBY', run_key(run), 'passages_read', row[6].passages)
    end
    if action == 'end' then
      local chunks = paid and type(payload.details) == 'table' and payload.details.chunks
      if chunks then
        -- What was neither read for this file nor unread was known before.
        local read = record.spent and record.spent.passages or 0
        payload.details.cached = math.max(0, chunks - read - (payload.details.chunks_unread or 0))
        redis.call('HINCRBY', run_key(run), 'passages_cached', payload.details.cached)
      end
      payload.holder = holder
      finish(run, index, payload, record, now)
    elseif cancelling then
      cancel_file(run, index, record, now)
    elseif action == 'next' then
      move_file(record, 'queued')
      record.holder, record.ref = '', payload
      record.done = record.done + 1
      save_record(run, index, record)
      redis.call('ZADD', clock_key(run), now + queue_ttl * 2 ^ math.min(record.requeues, 6), index)
    else
      if action == 'alone' then record.solo = true end
      if row[5] ~= cjson.null then
        -- Some things are worth waiting for only so often in a row.
        row[5].times = record.error and record.error.code == row[5].code and (record.error.times or 1) + 1 or 1
        record.error = row[5]
      end
      record.defers = record.defers + 1
      requeue(run, index, record, now + payload)
    end
  end
end
settle_run(run, now)
if #lost == 0 then return '[]' end
return cjson.encode(lost)
