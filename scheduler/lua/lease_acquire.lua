-- Ask for the graph lease once. ARGV: graph, access, holder, ttl ms, wish ttl ms. Returns the epoch, or 0: waiting.
local access, holder, ttl, wish = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
if access == 'shared' then
  local held = redis.call('ZSCORE', shared, holder)
  local my_turn = redis.call('ZSCORE', turn, holder)
  if not held and (holder_x ~= '' or (redis.call('ZCARD', wait_x) > 0 and not my_turn)) then
    redis.call('ZADD', wait_s, now + wish, holder)
    return 0
  end
  redis.call('ZADD', shared, now + ttl, holder)
  redis.call('ZREM', wait_s, holder)
  redis.call('ZREM', turn, holder)
  if redis.call('HGET', key, 'last') ~= 'shared' then
    next_epoch()
    redis.call('HSET', key, 'last', 'shared')
  end
else
  if holder_x ~= holder then
    if holder_x ~= '' or redis.call('ZCARD', shared) > 0 or redis.call('ZCARD', turn) > 0 then
      redis.call('ZADD', wait_x, now + wish, holder)
      return 0
    end
    next_epoch()
    redis.call('HSET', key, 'last', 'exclusive', 'holder', holder)
  end
  redis.call('HSET', key, 'until', now + ttl)
  redis.call('ZREM', wait_x, holder, returning)
end
return tonumber(redis.call('HGET', key, 'epoch'))
