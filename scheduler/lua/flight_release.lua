-- Give claims back. ARGV: holder, key ...
for i = 2, #ARGV do
  local key = 'gm:flight:' .. ARGV[i]
  if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1
