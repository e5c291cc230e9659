-- Functions that all ledger scripts share; every script is this text followed by its own.
-- ADR 0002 lists the keys. Times are milliseconds of the server's clock.
-- Before it stand RUN_MOVES and FILE_MOVES of scheduler/states.py: state -> set of states that it may become.
local SEGMENT = 1000

local function now_ms()
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000 + math.floor(tonumber(t[2]) / 1000)
end

local function run_key(run) return 'gm:run:' .. run end
local function active_key(run) return 'gm:run:' .. run .. ':active' end
local function clock_key(run) return 'gm:run:' .. run .. ':clock' end
local function due_key(run) return 'gm:run:' .. run .. ':due' end
local function batches_key(run) return 'gm:run:' .. run .. ':batches' end
local function segment_of(index) return math.floor(index / SEGMENT) end
local function manifest_key(run, index) return 'gm:run:' .. run .. ':manifest:' .. segment_of(index) end
local function outcomes_key(run, index) return 'gm:run:' .. run .. ':outcomes:' .. segment_of(index) end
-- A colon in a graph's name would make its keys those of another graph's parts.
local function graph_key(graph) return 'gm:graph:' .. graph:gsub('%%', '%%25'):gsub(':', '%%3A') end

local function has_outcome(run, index)
  return redis.call('HEXISTS', outcomes_key(run, index), index) == 1
end

local function manifest_entry(run, index)
  return redis.call('LINDEX', manifest_key(run, index), index % SEGMENT)
end

local function load_record(run, index)
  local raw = redis.call('HGET', active_key(run), index)
  if raw then return cjson.decode(raw) end
  return nil
end

local function save_record(run, index, record)
  redis.call('HSET', active_key(run), index, cjson.encode(record))
end

local function check_move(moves, what, from, to)
  if not (moves[from] and moves[from][to]) then
    error('ILLEGALMOVE ' .. what .. ' that is ' .. tostring(from) .. ' cannot become ' .. tostring(to) .. ';')
  end
end

-- The only places that change the state of a run, and of a file's record. A script that may come late, or twice,
-- asks for the state first: a move that the table lacks ends it with an error, and what it did before stays done.
local function move_run(run, to)
  check_move(RUN_MOVES, 'run ' .. run, redis.call('HGET', run_key(run), 'state'), to)
  redis.call('HSET', run_key(run), 'state', to)
end

local function move_file(record, to)
  check_move(FILE_MOVES, 'a file', record.state, to)
  record.state = to
end

-- `done` counts the stages of the present dispatch that have ended.
local function new_record(state)
  return {state = state, starts = 0, requeues = 0, defers = 0, done = 0, token = '', holder = ''}
end

-- The file leaves its batch: the batch ends with its last file, which frees a place in the window.
local function leave_batch(run, record)
  if record.token ~= '' then
    if redis.call('HINCRBY', batches_key(run), record.token, -1) <= 0 then
      redis.call('HDEL', batches_key(run), record.token)
    end
    record.token = ''
  end
end

local function end_run(run, state, now)
  move_run(run, state)
  redis.call('HSET', run_key(run), 'ended_at', now)
  redis.call('ZREM', 'gm:active', run)
  redis.call('ZADD', 'gm:ended', now, run)
end

-- All files of a sealed run have outcomes: the run waits for a finalize, or has ended where none is due.
local function settle_run(run, now)
  local r = redis.call('HMGET', run_key(run), 'state', 'total', 'ended', 'finalize', 'graph')
  local cancelled = r[1] == 'cancelling'
  if (r[1] ~= 'running' and r[1] ~= 'paused' and not cancelled) or tonumber(r[2]) ~= tonumber(r[3]) then return end
  local g = redis.call('HMGET', graph_key(r[5]), 'writes', 'finalized')
  local clean = tonumber(g[1] or 0) <= tonumber(g[2] or 0)
  local last = cancelled and 'cancelled' or 'done'
  redis.call('HSET', run_key(run), 'ingested_at', now, 'last_state', last)
  if r[4] == 'never' or clean then
    end_run(run, last, now)
  else
    move_run(run, 'finalizing')
    redis.call('ZADD', graph_key(r[5]) .. ':waiting', now, run)
    redis.call('SADD', 'gm:graphs', r[5])
  end
end

-- So many files fail that something else than the files is wrong: the run stops until a person has looked.
local LEAST_ENDED = 20
local function stop_if_failing(run)
  local r = redis.call('HMGET', run_key(run), 'state', 'most_failed', 'ended', 'count:failed')
  local limit, ended, failed = tonumber(r[2] or 1), tonumber(r[3]), tonumber(r[4] or 0)
  if r[1] == 'running' and ended >= LEAST_ENDED and failed > limit * ended then
    move_run(run, 'paused')
    redis.call('HSET', run_key(run), 'reason',
      failed .. ' of ' .. ended .. ' files failed, more than the limit of ' .. math.floor(limit * 100 + 0.5) .. ' %')
  end
end

-- Record the one outcome of a file; a second one changes nothing.
local function finish(run, index, outcome, record, now)
  if record then
    outcome.starts, outcome.defers, outcome.worker, outcome.times, outcome.round, outcome.spent =
      record.starts, record.defers, outcome.worker or record.worker, record.times, record.round, record.spent
  end
  if has_outcome(run, index) then return false end
  check_move(FILE_MOVES, 'a file', record and record.state or 'pending', outcome.state)
  redis.call('HSET', outcomes_key(run, index), index, cjson.encode(outcome))
  if record then leave_batch(run, record) end
  redis.call('HDEL', active_key(run), index)
  redis.call('ZREM', clock_key(run), index)
  redis.call('ZREM', due_key(run), index)
  redis.call('HINCRBY', run_key(run), 'ended', 1)
  redis.call('HINCRBY', run_key(run), 'count:' .. outcome.state, 1)
  if outcome.code == 'internal_error' then redis.call('HINCRBY', run_key(run), 'internal_errors', 1) end
  local wrote = outcome.state == 'written' or outcome.state == 'updated' or outcome.state == 'removed'
  -- A write that has begun leaves things for a finalize whatever came of it, also where it was removed again.
  if wrote or (record and record.wrote) then
    redis.call('HINCRBY', graph_key(redis.call('HGET', run_key(run), 'graph')), 'writes', 1)
  end
  if outcome.state == 'failed' then stop_if_failing(run) end
  return true
end

-- The fate of a file of a cancelled run that nobody works on: over, unless a write of it may have begun.
-- Then what it left is removed first (by a batch of its own kind).
local function cancel_file(run, index, record, now)
  if record and record.wrote then
    if record.state ~= 'waiting' then
      leave_batch(run, record)
      move_file(record, 'waiting')
      record.holder, record.done = '', 0
      save_record(run, index, record)
      redis.call('ZREM', clock_key(run), index)
    end
    redis.call('ZADD', due_key(run), now, index)
  else
    finish(run, index, {state = 'cancelled', code = 'cancelled', stage = record and record.stage or ''}, record, now)
  end
end

-- Out of the queue, to be dispatched again from `due` on.
local function requeue(run, index, record, due)
  move_file(record, 'waiting')
  leave_batch(run, record)
  record.holder = ''
  record.done = 0
  save_record(run, index, record)
  redis.call('ZREM', clock_key(run), index)
  redis.call('ZADD', due_key(run), due, index)
end

local function worker_lost(starts)
  return {
    state = 'failed', code = 'worker_lost', stage = '',
    message = 'Its worker died ' .. starts .. ' times while working on it (memory, a crash in a parser, or a kill).',
  }
end
