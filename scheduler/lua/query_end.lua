-- Record replies, and free the place of a slow job. ARGV: id, holder, slow ('1' or '0'), arguments done before, keep ms,
-- failed ('1' or '0'), replies ... Whoever comes first with replies is right, and an answer after the deadline is none.
-- Returns ids of jobs whose messages are to be sent now: that of a slow job that waited for this place, and this one
-- where it has arguments left.
local keep_ms = tonumber(ARGV[5])
-- First, and whatever has become of the job: this worker works no more.
local send = {}
if ARGV[3] == '1' then
  redis.call('ZREM', SLOW, ARGV[2])
  send = next_waiting()
end
local job = load_job(key)
if not job or not is_open(job) or job.done ~= tonumber(ARGV[4]) then return send end
if now >= job.deadline then
  close(job, 'expired', keep_ms)
  return send
end
-- Who has nothing to say does not send on what another has taken up meanwhile.
if #ARGV == 6 and job.holder ~= ARGV[2] then return send end
for i = 7, #ARGV do redis.call('RPUSH', key .. ':replies', ARGV[i]) end
local done = job.done + #ARGV - 6
-- A claim that had lapsed has not begun anew: the time since its start is this reply's.
job.state = 'running'
redis.call('HSET', key, 'done', done)
if done >= job.total then
  close(job, ARGV[6] == '1' and 'failed' or 'done', keep_ms)
else
  local waited, served = times_of(job)
  redis.call('HSET', key, 'state', 'queued', 'waited', spell(waited), 'served', spell(served),
    'queued_at', spell(now), 'sent', spell(now), 'sends', 1, 'starts', 0)
  redis.call('PEXPIRE', key .. ':replies', math.ceil(job.deadline - now) + keep_ms)
  send[#send + 1] = id
end
return send
