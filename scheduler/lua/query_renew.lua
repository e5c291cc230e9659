-- Keep the claim of a job, and its place where it is slow. ARGV: id, holder, lease ms. Returns 0 where neither is held.
local till = spell(now + tonumber(ARGV[3]))
-- Its worker works also on a job that was forgotten, has expired, or was answered by another.
redis.call('ZADD', SLOW, 'XX', till, ARGV[2])
local placed = redis.call('ZSCORE', SLOW, ARGV[2])
local job = load_job(key)
if not job or job.state ~= 'running' or job.holder ~= ARGV[2] then return placed and 1 or 0 end
redis.call('HSET', key, 'lease', till)
return 1
