-- Claim passages that are to be asked for, each by itself. ARGV: holder, ttl ms, key ... Returns those that others hold.
local others = {}
for i = 3, #ARGV do
  local key = 'gm:flight:' .. ARGV[i]
  local holder = redis.call('GET', key)
  if holder and holder ~= ARGV[1] then
    others[#others + 1] = ARGV[i]
  else
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
  end
end
return others
