-- A shard of a phase has ended. ARGV: graph, number, phase, shard, ttl ms, report json. Returns what is left, -1 if stale.
-- Counts of a report are added up once: a shard that is run twice counts once.
local key = graph_key(ARGV[1])
local r = redis.call('HMGET', key, 'state', 'number', 'phase', 'report')
if r[1] ~= 'running' or r[2] ~= ARGV[2] or r[3] ~= ARGV[3] then return -1 end
if redis.call('ZREM', key .. ':left', ARGV[4]) == 1 then
  local report = cjson.decode(r[4])
  for name, value in pairs(cjson.decode(ARGV[6])) do report[name] = (report[name] or 0) + value end
  redis.call('HSET', key, 'report', cjson.encode(report))
end
redis.call('HSET', key, 'deadline', now_ms() + tonumber(ARGV[5]))
return redis.call('ZCARD', key .. ':left')
