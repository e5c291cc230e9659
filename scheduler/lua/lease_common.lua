-- Functions that the graph lease's scripts share. Times are milliseconds of the server's clock.
-- gm:lease:G          hash: epoch, last (access of the last grant), holder and until (of the exclusive lease)
-- gm:lease:G:shared   shared holders by expiry
-- gm:lease:G:wait:x   waiting exclusives by the expiry of their wish; a waiter that died is forgotten
--                     (`returning` keeps a place for exclusives that gave up for now, until one is let in)
-- gm:lease:G:wait:s   waiting shared ones, likewise
-- gm:lease:G:turn     shared ones that waited when an exclusive ended: they go before the next exclusive
local key = 'gm:lease:' .. ARGV[1]
local shared, wait_x, wait_s, turn = key .. ':shared', key .. ':wait:x', key .. ':wait:s', key .. ':turn'
local returning = '(returning)'
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)

-- Epochs follow the clock: a counter that was lost, or set back by a crash, gives no number that a grant still
-- holds. In microseconds, as a lost counter and the next grant may fall into one millisecond.
local function next_epoch()
  local epoch = math.max(tonumber(redis.call('HGET', key, 'epoch') or 0) + 1, tonumber(t[1]) * 1000000 + tonumber(t[2]))
  redis.call('HSET', key, 'epoch', string.format('%.0f', epoch))
end

local function give_turn()
  redis.call('DEL', turn)
  redis.call('ZREMRANGEBYSCORE', wait_s, '-inf', now)
  redis.call('ZUNIONSTORE', turn, 1, wait_s)
end

for _, set in ipairs({shared, wait_x, wait_s, turn}) do redis.call('ZREMRANGEBYSCORE', set, '-inf', now) end
local holder_x = redis.call('HGET', key, 'holder') or ''
if holder_x ~= '' and tonumber(redis.call('HGET', key, 'until')) <= now then
  redis.call('HSET', key, 'holder', '')
  holder_x = ''
  give_turn()
end
