-- Renew the leases of files. ARGV: run, holder, ttl ms, indices json. Returns those no longer held.
local run, holder, ttl = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now = now_ms()
-- A paused run lets work in hand end its stage; a cancelled one stops it, but for its removals.
local state = redis.call('HGET', run_key(run), 'state')
local running = state == 'running' or state == 'paused'
local removing = state == 'cancelling'
local lost = {}
for _, index in ipairs(cjson.decode(ARGV[4])) do
  local record = load_record(run, index)
  local mine = record and record.holder == holder and record.state == 'running'
  if mine and (running or (removing and record.stage == 'discard')) then
    redis.call('ZADD', clock_key(run), now + ttl, index)
  else
    lost[#lost + 1] = index
  end
end
if #lost == 0 then return '[]' end
return cjson.encode(lost)
