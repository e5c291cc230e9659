-- Take a job up. ARGV: id, holder, lease ms, most arguments, places for slow jobs, most starts, keep ms, the reply to
-- a question that was started too often. Returns one of
-- {'taken', kind, ms left, arguments done, batch, slow, arguments ...};
-- {'slow'}: it needs a place, and their number was not given (0);
-- {'refused', ids of jobs whose messages are to be sent ...}: it has ended, is held by another, is too late, or waits
-- until fewer slow ones run.
local lease, most, places = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local most_starts, keep_ms = tonumber(ARGV[6]), tonumber(ARGV[7])
local job = load_job(key)
-- This may have been the message of one that was given a place: the next gets it.
local function refuse() return {'refused', unpack(next_waiting())} end
if not job or not is_open(job) then return refuse() end
if now >= job.deadline then
  close(job, 'expired', keep_ms)
  return refuse()
end
-- Who asks again after a lost answer is the same holder.
local again = job.state == 'running' and job.holder == ARGV[2]
if job.state == 'running' and job.lease > now and not again then return {'refused'} end
-- Of a slice whose worker died each question is asked alone, so that the one that kills is known, and only that.
local alone_until = job.alone_until or 0
if job.starts > 0 and not again and job.done >= alone_until then
  alone_until = job.done + most
  redis.call('HSET', key, 'alone_until', alone_until)
end
if job.starts >= most_starts and not again then
  redis.call('RPUSH', key .. ':replies', ARGV[8])
  redis.call('PEXPIRE', key .. ':replies', math.ceil(job.deadline - now) + keep_ms)
  job.done, job.starts = job.done + 1, 0
  redis.call('HSET', key, 'done', job.done, 'starts', 0)
  if job.done >= job.total then
    close(job, job.batch == 1 and 'done' or 'failed', keep_ms)
    return refuse()
  end
end
if job.done < alone_until then most = 1 end
if job.slow == 1 then
  if places == 0 then return {'slow'} end
  redis.call('ZREMRANGEBYSCORE', SLOW, '-inf', now)
  if not redis.call('ZSCORE', SLOW, ARGV[2]) and redis.call('ZCARD', SLOW) >= places then
    redis.call('ZADD', WAITING, spell(job.queued_at), id)
    redis.call('PEXPIRE', WAITING, keep_ms)
    redis.call('HSET', key, 'state', 'queued')
    return {'refused'}
  end
  redis.call('ZADD', SLOW, spell(now + lease), ARGV[2])
  redis.call('PEXPIRE', SLOW, keep_ms)
  redis.call('ZREM', WAITING, id)
end
redis.call('HSET', key, 'state', 'running', 'holder', ARGV[2], 'lease', spell(now + lease))
if not again then redis.call('HSET', key, 'started', spell(now), 'starts', job.starts + 1) end
local asked = redis.call('LRANGE', key .. ':asked', job.done, job.done + most - 1)
return {'taken', job.kind, spell(job.deadline - now), job.done, job.batch, job.slow, unpack(asked)}
