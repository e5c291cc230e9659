-- Renew document leases that are still held. ARGV: graph, holder, ttl ms, ids json. Returns the lost ids.
local lost = {}
for _, id in ipairs(cjson.decode(ARGV[4])) do
  local key = 'gm:doc:' .. ARGV[1] .. ':' .. id
  if redis.call('GET', key) == ARGV[2] then
    redis.call('PEXPIRE', key, ARGV[3])
  else
    lost[#lost + 1] = id
  end
end
return lost
