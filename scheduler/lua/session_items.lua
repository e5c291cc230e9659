-- Look up items by number, and keep the conversation alive.
-- ARGV: session, expiry in seconds, numbers. Gives one JSON record per number, nil where it is unknown, and nil instead
-- of the list where the session is.
local home = 'gm:session:' .. ARGV[1] .. ':'
if redis.call('EXISTS', home .. 'counter') == 0 then return false end
local found = {}
for i = 3, #ARGV do
  local record = redis.call('HGET', home .. 'items', ARGV[i])
  if not record then
    -- A session from before there were records has the text alone.
    local text = redis.call('HGET', home .. 'texts', ARGV[i])
    record = text and cjson.encode({text = text})
  end
  found[i - 2] = record
end
for _, part in ipairs({'counter', 'numbers', 'items', 'used', 'texts'}) do
  redis.call('EXPIRE', home .. part, tonumber(ARGV[2]))
end
return found
