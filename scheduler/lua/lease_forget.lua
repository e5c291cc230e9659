-- Forget the leases of a graph that was removed. ARGV: graph, holder. Returns 1, or 0 where the holder has not its
-- exclusive lease any more: what stands there is another's then. Epochs follow the clock, so that none is given twice.
if holder_x ~= ARGV[2] then return 0 end
redis.call('DEL', key, shared, wait_x, wait_s, turn)
return 1
