-- Take the next batch of files for dispatch. ARGV: window, max_files, max_bytes, queue_ttl ms, spread.
-- The highest priority comes first, then the run with the fewest batches in flight, then the oldest: runs that
-- are submitted together all advance. Of a cancelled run only files are taken whose traces must be removed.
local window, max_files, max_bytes, queue_ttl, spread =
  tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local LEAST_SHARE = 4
local now = now_ms()
local total, candidates = 0, {}
for position, run in ipairs(redis.call('ZRANGE', 'gm:active', 0, -1)) do
  local in_flight = redis.call('HLEN', batches_key(run))
  total = total + in_flight
  local r = redis.call('HMGET', run_key(run), 'state', 'priority')
  if r[1] == 'running' or r[1] == 'cancelling' then
    candidates[#candidates + 1] = {
      run = run, in_flight = in_flight, position = position, priority = tonumber(r[2] or 0), cancelling = r[1] == 'cancelling',
    }
  end
end
if total >= window then return false end
table.sort(candidates, function(a, b)
  if a.priority ~= b.priority then return a.priority > b.priority end
  if a.in_flight ~= b.in_flight then return a.in_flight < b.in_flight end
  return a.position < b.position
end)

for _, candidate in ipairs(candidates) do
  local run = candidate.run
  local meta = redis.call('HMGET', run_key(run), 'next', 'total', 'generation', 'graph', 'batch_files')
  local next_index, last = tonumber(meta[1]), tonumber(meta[2])
  local waiting = redis.call('ZCOUNT', due_key(run), '-inf', now)
  -- The tail of a run is spread over all workers rather than given to one, but not crumb by crumb.
  local share = math.max(LEAST_SHARE, math.ceil((last - next_index + waiting) / spread))
  -- Where calls are waited for, a batch is as large as they need: what one does not use of them another does.
  local limit = tonumber(meta[5] or math.min(max_files, share))
  local files, bytes, alone = {}, 0, false

  local function add(index, record)
    local size = cjson.decode(manifest_entry(run, index))[2]
    if #files > 0 and bytes + size > max_bytes then return false end
    files[#files + 1] = {index, record}
    bytes = bytes + size
    return true
  end

  for _, raw in ipairs(redis.call('ZRANGEBYSCORE', due_key(run), '-inf', now, 'LIMIT', 0, limit)) do
    local index = tonumber(raw)
    local record = load_record(run, index)
    if record.solo then
      -- It was in a batch whose worker died: alone, so that it takes nobody with it.
      if #files == 0 then add(index, record); alone = true; break end
    elseif not add(index, record) then break end
  end
  while not alone and not candidate.cancelling and #files < limit and next_index < last do
    if not has_outcome(run, next_index) then
      if not add(next_index, new_record('pending')) then break end
    end
    next_index = next_index + 1
  end
  redis.call('HSET', run_key(run), 'next', next_index)

  if #files > 0 then
    local token = tostring(redis.call('HINCRBY', run_key(run), 'tokens', 1))
    local indices = {}
    for _, file in ipairs(files) do
      local index, record = file[1], file[2]
      move_file(record, 'queued')
      record.token, record.holder = token, ''
      save_record(run, index, record)
      redis.call('ZREM', due_key(run), index)
      -- A message that nobody claims by then is taken for lost; patience doubles each time.
      redis.call('ZADD', clock_key(run), now + queue_ttl * 2 ^ math.min(record.requeues, 6), index)
      indices[#indices + 1] = index
    end
    redis.call('HSET', batches_key(run), token, #files)
    return cjson.encode({
      run = run, generation = tonumber(meta[3]), graph = meta[4], token = token, files = indices,
      discard = candidate.cancelling,
    })
  end
end
return false
