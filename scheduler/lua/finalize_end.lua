-- End a finalize after its last phase, and with it the runs that it served.
-- ARGV: graph, number, last phase, error ('' when it succeeded). Returns 1 for the one caller that ended it.
local graph, number = ARGV[1], ARGV[2]
local key = graph_key(graph)
local now = now_ms()
local r = redis.call('HMGET', key, 'state', 'number', 'phase', 'began_writes')
if r[1] ~= 'running' or r[2] ~= number then return 0 end
if ARGV[4] == '' and (r[3] ~= ARGV[3] or redis.call('ZCARD', key .. ':left') > 0) then return 0 end
redis.call('HSET', key, 'state', 'idle', 'finished_at', now, 'last_report', redis.call('HGET', key, 'report'))
if ARGV[4] == '' then
  redis.call('HSET', key, 'finalized', r[4])
else
  redis.call('HSET', key, 'error', ARGV[4])
end
for _, run in ipairs(redis.call('ZRANGE', key .. ':serving', 0, -1)) do
  if redis.call('HGET', run_key(run), 'state') == 'finalizing' then
    end_run(run, redis.call('HGET', run_key(run), 'last_state'), now)
    if ARGV[4] ~= '' then redis.call('HSET', run_key(run), 'error', 'finalize: ' .. ARGV[4]) end
  end
end
redis.call('DEL', key .. ':serving', key .. ':left', key .. ':held', key .. ':tries')
return 1
