-- Claim the files of a batch for one stage. ARGV: run, generation, token, stage, holder, ttl ms, max starts, worker,
-- indices json, the stage's place (from 0).
-- Dropped are files with an outcome, of a run that does not run or has another generation, with a newer
-- token than the message's, at another stage (a message that came twice), or with a live lease of another
-- holder. Asking again as the same holder is free.
local run, generation, token, stage, holder = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local ttl, max_starts, worker = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local place = tonumber(ARGV[10])
local now = now_ms()
local meta = redis.call('HMGET', run_key(run), 'state', 'generation')
local claimed = {}
local works = meta[1] == 'running' or (meta[1] == 'cancelling' and stage == 'discard')
if meta[1] == 'paused' and meta[2] == generation then
  -- This message is used up: its files wait in the ledger until the run goes on.
  for _, index in ipairs(cjson.decode(ARGV[9])) do
    local record = load_record(run, index)
    if record and record.token == token and record.done == place and record.state == 'queued' then
      requeue(run, index, record, now)
    end
  end
elseif works and meta[2] == generation then
  for _, index in ipairs(cjson.decode(ARGV[9])) do
    local record = load_record(run, index)
    if record and record.token == token and record.done == place and not has_outcome(run, index) then
      local expiry = tonumber(redis.call('ZSCORE', clock_key(run), index) or 0)
      local free = record.state ~= 'running' or expiry <= now
      if record.holder == holder and record.state == 'running' then
        redis.call('ZADD', clock_key(run), now + ttl, index)
        claimed[#claimed + 1] = {index, manifest_entry(run, index), record.ref or '', record.defers, record.starts, record.round or 0, record.error}
      elseif free then
        if record.starts >= max_starts then
          finish(run, index, worker_lost(record.starts), record, now)
        else
          move_file(record, 'running')
          record.starts = record.starts + 1
          record.holder, record.stage, record.worker = holder, stage, worker
          if stage == 'write' then record.wrote = true end
          save_record(run, index, record)
          redis.call('ZADD', clock_key(run), now + ttl, index)
          claimed[#claimed + 1] = {index, manifest_entry(run, index), record.ref or '', record.defers, record.starts, record.round or 0, record.error}
        end
      end
    end
  end
  settle_run(run, now)
end
-- An empty table would encode as an object.
if #claimed == 0 then return '[]' end
return cjson.encode(claimed)
