-- Look up texts by number, and keep the conversation alive.
-- ARGV: session, expiry in seconds, numbers. Gives one text per number, nil where it is unknown, and nil instead of
-- the list where the session is.
local home = 'gm:session:' .. ARGV[1] .. ':'
if redis.call('EXISTS', home .. 'counter') == 0 then return false end
local found = {}
for i = 3, #ARGV do
  found[i - 2] = redis.call('HGET', home .. 'texts', ARGV[i])
end
for _, part in ipairs({'counter', 'numbers', 'texts', 'used'}) do
  redis.call('EXPIRE', home .. part, tonumber(ARGV[2]))
end
return found
