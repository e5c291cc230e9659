-- Record a job. ARGV: id, kind, slow and batch ('1' or '0' each), timeout ms, keep ms, arguments ...
local timeout, keep_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('HSET', key, 'kind', ARGV[2], 'slow', ARGV[3], 'batch', ARGV[4], 'state', 'queued', 'total', #ARGV - 6, 'done', 0,
  'deadline', spell(now + timeout), 'queued_at', spell(now), 'sent', spell(now), 'sends', 1, 'starts', 0,
  'waited', 0, 'served', 0)
redis.call('DEL', key .. ':asked')
for i = 7, #ARGV do redis.call('RPUSH', key .. ':asked', ARGV[i]) end
redis.call('PEXPIRE', key, timeout + keep_ms)
redis.call('PEXPIRE', key .. ':asked', timeout + keep_ms)
