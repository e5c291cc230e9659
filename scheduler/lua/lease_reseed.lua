-- The graph's fence is ahead of the counter (Redis was emptied, or another one raised it): go past it.
-- ARGV: graph, fence, access. Grants of the old counter are void, so holders are dropped. Equal numbers are
-- normal (the fence follows the grants), except for an exclusive grant whose raise was refused.
local fence = tonumber(ARGV[2])
local epoch = tonumber(redis.call('HGET', key, 'epoch') or 0)
if epoch < fence or (epoch == fence and ARGV[3] == 'exclusive') then
  redis.call('HSET', key, 'epoch', fence, 'last', '', 'holder', '')
  redis.call('DEL', shared)
end
return tonumber(redis.call('HGET', key, 'epoch'))
