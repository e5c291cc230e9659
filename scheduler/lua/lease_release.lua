-- Give a graph lease back, or a wish up. ARGV: graph, access, holder, ms for which the place of an exclusive that
-- gave up is kept. Returns 1 if it was held.
if ARGV[2] == 'shared' then
  redis.call('ZREM', wait_s, ARGV[3])
  redis.call('ZREM', turn, ARGV[3])
  return redis.call('ZREM', shared, ARGV[3])
end
redis.call('ZREM', wait_x, ARGV[3])
if holder_x ~= ARGV[3] then
  if tonumber(ARGV[4]) > 0 then redis.call('ZADD', wait_x, now + tonumber(ARGV[4]), returning) end
  return 0
end
redis.call('HSET', key, 'holder', '')
give_turn()
return 1
