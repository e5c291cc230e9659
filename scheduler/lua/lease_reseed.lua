-- The graph's fence is ahead of the counter (Redis was emptied, or another one raised it): go past it.
-- ARGV: graph, fence. Only while nobody holds the lease would a grant be clean, so holders are dropped.
local fence = tonumber(ARGV[2])
if tonumber(redis.call('HGET', key, 'epoch') or 0) <= fence then
  redis.call('HSET', key, 'epoch', fence, 'last', '', 'holder', '')
  redis.call('DEL', shared)
end
return tonumber(redis.call('HGET', key, 'epoch'))
