-- Give a graph lease back, or a wish up. ARGV: graph, access, holder. Returns 1 if it was held.
if ARGV[2] == 'shared' then
  redis.call('ZREM', wait_s, ARGV[3])
  redis.call('ZREM', turn, ARGV[3])
  return redis.call('ZREM', shared, ARGV[3])
end
redis.call('ZREM', wait_x, ARGV[3])
if holder_x ~= ARGV[3] then return 0 end
redis.call('HSET', key, 'holder', '')
give_turn()
return 1
