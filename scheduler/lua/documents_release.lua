-- Give document leases back. ARGV: graph, holder, ids json.
for _, id in ipairs(cjson.decode(ARGV[3])) do
  local key = 'gm:doc:' .. ARGV[1] .. ':' .. id
  if redis.call('GET', key) == ARGV[2] then redis.call('DEL', key) end
end
return 1
