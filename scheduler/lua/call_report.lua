-- Tell what a call came to. ARGV after the common ones: since when it had leave, calls in flight as configured, verdict
-- (good, bad, none), load (1: the service refused for load), ms that it asked to be left alone, refusal ('' or what it
-- said when it takes no call of ours), cost (known, bound, free, unsent), tokens in and out, nano ('' unknown),
-- failures in a row that break it, ms that this forgets an idle model after. Of a permit that is no more, because it
-- was told of before or had expired, it changes nothing.
local since, most, verdict, load, wait = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], ARGV[10] == '1', tonumber(ARGV[11])
local refusal, cost, breaking, keep = ARGV[12], ARGV[13], tonumber(ARGV[17]), ARGV[18]

drop_dead()

if redis.call('ZREM', reserved, reservation) == 1 then
  reserve(reservation, -1)
  if cost ~= 'unsent' then
    add('llm_calls', 1)
    if verdict ~= 'good' then add('llm_failed', 1) end
  end
  if cost == 'known' then
    add('llm_tokens_in', tonumber(ARGV[14]))
    add('llm_tokens_out', tonumber(ARGV[15]))
    if ARGV[16] ~= '' then
      add_usd('llm_usd', tonumber(ARGV[16]))
    else
      add('llm_unpriced', 1)
      add_usd('llm_lost_usd', tonumber(ARGV[5]) or 0)
    end
  elseif cost == 'bound' then
    lose(reservation)
  end
end

if redis.call('ZREM', flying, permit) == 0 then return 0 end

local place_at = redis.call('ZSCORE', window, place)
if place_at and (cost == 'known' or cost == 'unsent') then
  local true_tokens = cost == 'known' and tonumber(ARGV[14]) + tonumber(ARGV[15]) or 0
  redis.call('ZREM', window, place)
  if cost == 'known' then redis.call('ZADD', window, place_at, permit .. ' ' .. whole(true_tokens)) end
  redis.call('HINCRBY', model, 'window_tokens', whole(true_tokens - estimate))
end

local m = redis.call('HMGET', model, 'allowed', 'halved_at', 'stop_until', 'probe', 'failures')
if verdict == 'good' then
  redis.call('HSET', model, 'proven_at', now)
  redis.call('HDEL', model, 'failures', 'probe', 'probes', 'probe_at', 'refusal')
  if m[1] then
    local allowed = tonumber(m[1]) + 1 / tonumber(m[1])
    if allowed >= most then
      redis.call('HDEL', model, 'allowed')
    else
      redis.call('HSET', model, 'allowed', string.format('%.6f', allowed))
    end
  end
elseif verdict == 'bad' then
  local before = tonumber(m[5] or 0)
  local failures = refusal == '' and before + 1 or math.max(before + 1, breaking)
  redis.call('HSET', model, 'failures', failures)
  -- Calls that were under way at the last halving tell of the load before it.
  if load and since > tonumber(m[2] or 0) then
    local allowed = math.min(most, tonumber(m[1] or most))
    redis.call('HSET', model, 'allowed', math.max(1, math.floor(allowed / 2)), 'halved_at', now)
  end
  if wait > 0 then redis.call('HSET', model, 'stop_until', whole(math.max(tonumber(m[3] or 0), now + wait))) end
  -- Only what was a probe, or broke the model, makes the next probe wait longer: not all that were under way then.
  if permit == m[4] or (before < breaking and failures >= breaking) then
    local probes = redis.call('HINCRBY', model, 'probes', 1)
    -- A key or quota is mended by a person, who then wants to go on: no probe, but the run's pause keeps calls away.
    local pause = refusal ~= '' and 1 or math.min(60, 2 ^ math.min(6, probes - 1))
    redis.call('HSET', model, 'probe_at', whole(now + 1000 * pause))
    redis.call('HDEL', model, 'refusal')
    if refusal ~= '' then redis.call('HSET', model, 'refusal', refusal) end
  end
end
for _, key in ipairs({model, window}) do redis.call('PEXPIRE', key, keep) end
return 1
