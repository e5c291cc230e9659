-- Renew claims that are still held. ARGV: holder, ttl ms, key ... Returns those that are lost.
local lost = {}
for i = 3, #ARGV do
  local key = 'gm:flight:' .. ARGV[i]
  if redis.call('GET', key) == ARGV[1] then
    redis.call('PEXPIRE', key, ARGV[2])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
