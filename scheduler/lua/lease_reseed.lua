-- The graph's fence is ahead of the counter (Redis was emptied, or another one raised it): go past it.
-- ARGV: graph, fence, access. Grants of the old counter are void, so holders are dropped. Equal numbers are
-- normal (the fence follows the grants), except for an exclusive grant whose raise was refused. Shared grants that
-- came after it are sound: one that slept past its lease and is refused late must not end theirs.
local fence = tonumber(ARGV[2])
local epoch = tonumber(redis.call('HGET', key, 'epoch') or 0)
local refused = epoch == fence and ARGV[3] == 'exclusive' and redis.call('HGET', key, 'last') ~= 'shared'
if epoch < fence or refused then
  redis.call('HSET', key, 'epoch', fence, 'last', '', 'holder', '')
  redis.call('DEL', shared)
end
return tonumber(redis.call('HGET', key, 'epoch'))
