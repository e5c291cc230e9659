-- What the scripts of query jobs share; ARGV[1] is the job's id. Times are milliseconds of the server's clock, with
-- fractions.
-- gm:query:ID          hash: kind, slow, batch, state, total, done (arguments answered), deadline; queued_at, sent, sends (its
--                      message); started, holder, lease, starts (its last claim); alone_until (arguments before this are
--                      taken one at a time); waited, served (times so far)
-- gm:query:ID:asked    list of arguments; gone with the end
-- gm:query:ID:replies  list of replies, parallel to them
-- gm:query:ID:over     list of one element from the end on: what waits for the end blocks on it
-- gm:query:slow        places of slow jobs: holders of their claims, by the end of these. A place is taken for as long
--                      as its worker works, whatever has become of the job meanwhile
-- gm:query:waiting     slow jobs that wait until fewer of them run, by the time since when they are on the queue
local SLOW, WAITING = 'gm:query:slow', 'gm:query:waiting'
local id = ARGV[1]
local key = 'gm:query:' .. id
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + tonumber(t[2]) / 1000

local function spell(ms) return string.format('%.3f', ms) end

local function load_job(of)
  local job, flat = {}, redis.call('HGETALL', of)
  if #flat == 0 then return nil end
  for i = 1, #flat, 2 do
    local name, value = flat[i], flat[i + 1]
    -- Digits alone can be a holder's name too.
    job[name] = (name == 'kind' or name == 'state' or name == 'holder') and value or tonumber(value)
  end
  return job
end

local function is_open(job) return job.state == 'queued' or job.state == 'running' end

local function times_of(job)
  if job.state == 'queued' then return job.waited + now - job.queued_at, job.served end
  if job.state == 'running' then return job.waited + job.started - job.queued_at, job.served + now - job.started end
  return job.waited, job.served
end

-- The slow job that waits longest for a place, if any, as a list: its message is to be sent.
local function next_waiting()
  while true do
    local other = redis.call('ZPOPMIN', WAITING)[1]
    if not other then return {} end
    local waiting = load_job('gm:query:' .. other)
    if waiting and waiting.state == 'queued' and waiting.deadline > now then return {other} end
  end
end

local function close(job, state, keep_ms)
  local waited, served = times_of(job)
  job.state, job.waited, job.served = state, waited, served
  redis.call('HSET', key, 'state', state, 'waited', spell(waited), 'served', spell(served))
  redis.call('DEL', key .. ':asked')
  redis.call('RPUSH', key .. ':over', '1')
  redis.call('ZREM', WAITING, id)
  for _, part in ipairs({'', ':replies', ':over'}) do redis.call('PEXPIRE', key .. part, keep_ms) end
end
