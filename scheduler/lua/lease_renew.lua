-- Renew a graph lease that is still held. ARGV: graph, access, holder, ttl ms. Returns 1, or 0 when it is lost.
if ARGV[2] == 'shared' then
  if not redis.call('ZSCORE', shared, ARGV[3]) then return 0 end
  redis.call('ZADD', shared, now + tonumber(ARGV[4]), ARGV[3])
else
  if holder_x ~= ARGV[3] then return 0 end
  redis.call('HSET', key, 'until', now + tonumber(ARGV[4]))
end
return 1
