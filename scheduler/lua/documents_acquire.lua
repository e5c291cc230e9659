-- Take document leases, each by itself. ARGV: graph, holder, ttl ms, ids json. Returns the ids that others hold.
local refused = {}
for _, id in ipairs(cjson.decode(ARGV[4])) do
  local key = 'gm:doc:' .. ARGV[1] .. ':' .. id
  local held = redis.call('GET', key)
  if held and held ~= ARGV[2] then
    refused[#refused + 1] = id
  else
    redis.call('SET', key, ARGV[2], 'PX', ARGV[3])
  end
end
return refused
