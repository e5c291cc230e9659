-- Tell where a job stands. ARGV: id, keep ms, patience ms. Returns state, queue ms, service ms, done, total, batch,
-- ms left, and 1 where its message is to be sent again: its worker has died, or nobody took it for long (twice as long each time).
-- False where there is no such job.
local job = load_job(key)
if not job then return false end
local send = 0
if is_open(job) and now >= job.deadline then
  close(job, 'expired', tonumber(ARGV[2]))
elseif job.state == 'running' and job.lease <= now then
  job.state, send = 'queued', 1
  redis.call('HSET', key, 'state', 'queued', 'sent', spell(now), 'sends', 1)
elseif job.state == 'queued' and now - job.sent >= tonumber(ARGV[3]) * 2 ^ (job.sends - 1) then
  send = 1
  redis.call('HSET', key, 'sent', spell(now), 'sends', job.sends + 1)
end
local waited, served = times_of(job)
return {job.state, spell(waited), spell(served), job.done, job.total, job.batch, spell(job.deadline - now), send}
