-- Append files to an open run's manifest. ARGV: run, offset, entries json: {relative, size, outcome or null, order or null},
-- number of the listing. `offset` is the position that the caller believes in: a repeated call changes nothing.
local run, offset = ARGV[1], tonumber(ARGV[2])
local meta = redis.call('HMGET', run_key(run), 'state', 'total', 'generation')
if meta[3] ~= ARGV[4] then return redis.error_reply('NOTOPEN another process lists the run anew') end
if meta[1] ~= 'open' then return redis.error_reply('NOTOPEN the run does not take files any more') end
local total = tonumber(meta[2])
if total ~= offset then return total end
local now = now_ms()
for _, entry in ipairs(cjson.decode(ARGV[3])) do
  redis.call('RPUSH', manifest_key(run, total), cjson.encode({entry[1], entry[2], entry[4] ~= cjson.null and entry[4] or nil}))
  if entry[3] ~= cjson.null then finish(run, total, entry[3], nil, now) end
  total = total + 1
end
redis.call('HSET', run_key(run), 'total', total)
return total
