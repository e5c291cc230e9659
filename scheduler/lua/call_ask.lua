-- Ask for leave to call a model once. ARGV after the common ones: calls in flight, requests a minute, tokens a minute
-- (0: no limit), ms that the permit lives, ms of the window, ms that a success proves a model for, failures in a row
-- that break it. Returns {'granted', since} or {reason, ms to wait (0: unknown, soon), details ...}. The same permit
-- asked for again is granted as it was.
local most, requests, tokens = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local ttl, span, proof, breaking = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])

drop_dead()
local expiry = redis.call('ZSCORE', flying, permit)
if expiry then return {'granted', tonumber(expiry) - ttl} end

-- The budget, first: what is spent for good makes all else idle.
local b = redis.call('HMGET', run, 'max_tokens', 'llm_tokens_in', 'llm_tokens_out', 'llm_lost_tokens',
  'llm_reserved_tokens', 'max_usd', 'llm_usd', 'llm_lost_usd', 'llm_reserved_nano')
local fits = true
local function check_budget(limit, spent, held, bound)
  if not limit or spent + held + bound <= limit then return true end
  fits = false
  return spent < limit
end
local spent_tokens = tonumber(b[2] or 0) + tonumber(b[3] or 0) + tonumber(b[4] or 0)
local spent_nano = nano_of(b[7]) + nano_of(b[8])
if b[6] and ARGV[5] == '' then return {'price_unknown', 0} end
if not check_budget(tonumber(b[1]), spent_tokens, tonumber(b[5] or 0), tonumber(ARGV[4])) then
  return {'budget_spent', 0, 'tokens', whole(spent_tokens), b[1]}
end
if not check_budget(b[6] and nano_of(b[6]), spent_nano, tonumber(b[9] or 0), tonumber(ARGV[5]) or 0) then
  return {'budget_spent', 0, 'usd', string.format('%.9f', spent_nano / 1e9), b[6]}
end

local m = redis.call('HMGET', model, 'stop_until', 'failures', 'proven_at', 'probe', 'probe_at', 'refusal', 'allowed',
  'window_tokens')
local stop = tonumber(m[1] or 0) - now
if stop > 0 then return {'stopped', stop} end

local failures = tonumber(m[2] or 0)
local unproven = failures >= breaking or tonumber(m[3] or 0) < now - proof
if unproven then
  local pause = tonumber(m[5] or 0) - now
  if pause > 0 then
    if m[6] then return {'refused', pause, m[6]} end
    return {'broken', pause}
  end
  if m[4] and redis.call('ZSCORE', flying, m[4]) then return {failures > 0 and 'broken' or 'probing', 0} end
end

-- An entry leaves the window strictly after its span, as the clock's fractions are cut off.
if requests > 0 or tokens > 0 then
  local sum = tonumber(m[8] or 0)
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', window, '-inf', '(' .. whole(now - span))) do
    sum = sum - tonumber(entry:match(' (%S+)$'))
  end
  redis.call('ZREMRANGEBYSCORE', window, '-inf', '(' .. whole(now - span))
  local count = redis.call('ZCARD', window)
  if count == 0 then sum = 0 end
  redis.call('HSET', model, 'window_tokens', whole(sum))
  local free_at = 0
  if requests > 0 and count >= requests then
    free_at = tonumber(redis.call('ZRANGE', window, count - requests, count - requests, 'WITHSCORES')[2]) + span + 1
  end
  -- A call that is larger than the limit goes alone. Pages, as the first entry is mostly enough.
  local missing = tokens > 0 and math.min(sum, sum + estimate - tokens) or 0
  for first = 0, count - 1, 100 do
    if missing <= 0 then break end
    local rows = redis.call('ZRANGE', window, first, first + 99, 'WITHSCORES')
    for i = 1, #rows, 2 do
      missing = missing - tonumber(rows[i]:match(' (%S+)$'))
      if missing <= 0 then
        free_at = math.max(free_at, tonumber(rows[i + 1]) + span + 1)
        break
      end
    end
  end
  if free_at > now then return {'rate', free_at - now} end
end

if redis.call('ZCARD', flying) >= math.min(most, math.floor(tonumber(m[7] or most))) then return {'in_flight', 0} end
if not fits and redis.call('ZCARD', reserved) > 0 then return {'budget_waits', 0} end

redis.call('ZADD', flying, now + ttl, permit)
redis.call('ZADD', reserved, now + ttl, reservation)
-- The account of a finalize goes by itself.
local life = redis.call('PTTL', run)
if life > 0 then redis.call('PEXPIRE', reserved, life) end
reserve(reservation, 1)
if unproven then redis.call('HSET', model, 'probe', permit) end
if requests > 0 or tokens > 0 then
  redis.call('ZADD', window, now, place)
  redis.call('HINCRBY', model, 'window_tokens', estimate)
end
return {'granted', now}
