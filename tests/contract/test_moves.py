"""The tables of moves: each move is made by somebody, every other one is refused, on the double and on a real Redis."""

import re
from itertools import product
from pathlib import Path

import fakeredis
import pytest

from scheduler.errors import IllegalMove
from scheduler.finalize import FinalizeLedger, Phase, Shard
from scheduler.ledger import Ledger
from scheduler.records import NewFile, Outcome
from scheduler.scripts import Scripts, read_script
from scheduler.states import FILE_MOVES, RUN_MOVES, FileState, RunState, WorkState
from scheduler.verbs import RunVerbs

ROOT = Path(__file__).parents[2]
LUA = ROOT / "scheduler" / "lua"


class Mill:
    """One run of one file, and what can be done to it."""

    def __init__(self, client):
        self.client = client
        self.ledger = self.with_limits()
        self.verbs = RunVerbs(client, self.ledger)
        self.finalizes = FinalizeLedger(client, ttl_ms=60_000)
        self.run = self.batch = None
        self.holders = 0

    def with_limits(self, **kw):
        return Ledger(self.client, **{"lease_ms": 60_000, "queue_ttl_ms": 60_000, "max_starts": 3, **kw})

    @property
    def state(self):
        return self.ledger.status(self.run).state

    @property
    def file(self):
        return next(self.ledger.files(self.run)).state

    def open(self, outcome=None, finalize="auto"):
        self.run = self.ledger.open_run("kb", "/files", finalize=finalize, options={})
        self.ledger.append(self.run, 0, [NewFile("a.txt", 1, outcome)])

    def seal(self, **kw):
        self.open(**kw)
        self.ledger.seal(self.run)

    def pause(self):
        self.verbs.pause(self.run, "by hand")

    def cancel(self):
        self.verbs.cancel(self.run)

    def take(self, ledger=None):
        self.batch = (ledger or self.ledger).take(window=8, max_files=20, max_bytes=256_000, spread=1)

    def queue(self, ledger=None, **kw):
        self.seal(**kw)
        self.take(ledger)

    def claim(self, stage="load", ledger=None):
        self.holders += 1
        self.holder = f"h{self.holders}"
        return (ledger or self.ledger).claim(self.batch, stage, self.holder, "w")

    def start(self, ledger=None, **kw):
        self.queue(**kw)
        self.claim(ledger=ledger)

    def settle(self, **moves):
        assert self.ledger.settle(self.run, self.holder, **moves) == []

    def end(self, state):
        self.settle(ended={0: Outcome(state)})

    def end_all(self, state, **kw):
        self.start(**kw)
        self.end(state)

    def start_writing(self, ledger=None):
        self.start()
        for stage in ("chunk", "extract", "write"):
            self.settle(passed={0: {}})
            self.claim(stage, ledger if stage == "write" else None)

    def finalize(self):
        number = self.finalizes.begin("kb")
        assert self.finalizes.end(Shard("kb", number, Phase.PLAN, 0), "stopped")

    def reopen(self, state=FileState.WRITTEN):
        assert self.ledger.reopen(self.run, [0], state) == 1

    def hold_while_cancelled(self):
        self.start()
        self.cancel()

    def write_while_cancelled(self):
        self.hold_while_cancelled()
        self.end(FileState.WRITTEN)


@pytest.fixture(params=["double", "real"])
def mill(request):
    if request.param == "double":
        return Mill(fakeredis.FakeRedis(decode_responses=True, version=(7, 4)))
    return Mill(request.getfixturevalue("redis_client"))


R, W, F = RunState, WorkState, FileState
RUN_SCENES = {
    (R.OPEN, R.RUNNING): (Mill.open, lambda m: m.ledger.seal(m.run)),
    (R.OPEN, R.CANCELLING): (
        lambda m: (m.open(), m.ledger.append(m.run, 1, [NewFile(str(i), 1) for i in range(2000)])),
        Mill.cancel,
    ),
    (R.RUNNING, R.PAUSED): (Mill.seal, Mill.pause),
    (R.RUNNING, R.CANCELLING): (Mill.start, Mill.cancel),
    (R.RUNNING, R.FINALIZING): (Mill.start, lambda m: m.end(F.WRITTEN)),
    (R.RUNNING, R.DONE): (Mill.start, lambda m: m.end(F.UNCHANGED)),
    (R.PAUSED, R.RUNNING): (lambda m: (m.seal(), m.pause()), lambda m: m.verbs.go_on(m.run)),
    (R.PAUSED, R.CANCELLING): (lambda m: (m.start(), m.pause()), Mill.cancel),
    (R.PAUSED, R.FINALIZING): (lambda m: (m.start(), m.pause()), lambda m: m.end(F.WRITTEN)),
    (R.PAUSED, R.DONE): (lambda m: (m.start(), m.pause()), lambda m: m.end(F.FAILED)),
    (R.CANCELLING, R.CANCELLED): (Mill.hold_while_cancelled, lambda m: m.settle(passed={0: {}})),
    (R.CANCELLING, R.FINALIZING): (Mill.hold_while_cancelled, lambda m: m.end(F.WRITTEN)),
    (R.FINALIZING, R.RUNNING): (lambda m: m.end_all(F.WRITTEN), Mill.reopen),
    (R.FINALIZING, R.DONE): (lambda m: m.end_all(F.WRITTEN), Mill.finalize),
    (R.FINALIZING, R.CANCELLED): (Mill.write_while_cancelled, Mill.finalize),
    (R.DONE, R.RUNNING): (lambda m: m.end_all(F.FAILED), lambda m: m.verbs.retry(m.run)),
}


def sweep(mill, ledger=None):
    (ledger or mill.ledger).sweep(mill.run)


def cancel_what_is_written(mill):
    """Its write had begun and its worker is gone: what it left is to be removed."""
    mill.start_writing(mill.with_limits(lease_ms=0))
    mill.cancel()


FILE_SCENES = {
    (W.PENDING, W.QUEUED): (Mill.seal, Mill.take),
    (W.PENDING, F.CANCELLED): (Mill.seal, Mill.cancel),
    (W.WAITING, W.QUEUED): (lambda m: (m.start(), m.settle(deferred={0: 0.0})), Mill.take),
    (W.WAITING, F.CANCELLED): (lambda m: (m.start(), m.settle(deferred={0: 9.0})), Mill.cancel),
    (W.QUEUED, W.RUNNING): (Mill.queue, Mill.claim),
    (W.QUEUED, W.WAITING): (lambda m: m.queue(m.with_limits(queue_ttl_ms=0)), sweep),
    (W.QUEUED, F.CANCELLED): (Mill.queue, Mill.cancel),
    # Fewer starts are allowed than when it was started last.
    (W.QUEUED, F.FAILED): (
        lambda m: (m.start(ledger=m.with_limits(lease_ms=0)), sweep(m), m.take()),
        lambda m: m.claim(ledger=m.with_limits(max_starts=1)),
    ),
    (W.RUNNING, W.RUNNING): (lambda m: m.start(ledger=m.with_limits(lease_ms=0)), Mill.claim),
    (W.RUNNING, W.QUEUED): (Mill.start, lambda m: m.settle(passed={0: {}})),
    (W.RUNNING, W.WAITING): (cancel_what_is_written, sweep),
    **{(W.RUNNING, state): (Mill.start, lambda m, state=state: m.end(state)) for state in F},
    (F.WRITTEN, W.WAITING): (lambda m: m.end_all(F.WRITTEN), Mill.reopen),
    (F.UPDATED, W.WAITING): (lambda m: m.end_all(F.UPDATED), lambda m: m.reopen(F.UPDATED)),
    (F.REMOVED, W.WAITING): (lambda m: m.end_all(F.REMOVED), lambda m: m.reopen(F.REMOVED)),
    (F.UNCHANGED, W.WAITING): (
        lambda m: (m.start(), m.settle(ended={0: Outcome(F.UNCHANGED, "partial", details={"chunks_unread": 1})})),
        lambda m: m.verbs.retry(m.run),
    ),
    (F.FAILED, W.WAITING): (lambda m: m.end_all(F.FAILED), lambda m: m.verbs.retry(m.run)),
}
LISTED = {(W.PENDING, F.SKIPPED), (W.PENDING, F.FAILED)}


def moves_of(table):
    return {(state, to) for state, targets in table.items() for to in targets}


def named(value):
    return str(value) if isinstance(value, R | W | F) else None


@pytest.mark.parametrize(("before", "after"), sorted(moves_of(RUN_MOVES)), ids=named)
def test_every_move_of_a_run_is_made_by_somebody(mill, before, after):
    arrange, act = RUN_SCENES[before, after]
    arrange(mill)
    assert mill.state is before
    act(mill)
    assert mill.state is after


@pytest.mark.parametrize(("before", "after"), sorted(moves_of(FILE_MOVES) - LISTED), ids=named)
def test_every_move_of_a_file_is_made_by_somebody(mill, before, after):
    arrange, act = FILE_SCENES[before, after]
    arrange(mill)
    assert mill.file == before
    act(mill)
    assert mill.file == after


@pytest.mark.parametrize("state", sorted(to for _, to in LISTED))
def test_a_file_whose_fate_is_known_when_it_is_listed_has_it_at_once(mill, state):
    mill.open(Outcome(state, "unreadable"))
    assert mill.file == state


def test_a_file_that_changes_hands_is_started_anew(mill):
    mill.start(ledger=mill.with_limits(lease_ms=0))
    assert [f.starts for f in mill.claim()] == [2]


ASK_RUN = "move_run(ARGV[1], ARGV[2])\nreturn redis.call('HGET', run_key(ARGV[1]), 'state')"
ASK_FILE = "local record = new_record(ARGV[1])\nmove_file(record, ARGV[2])\nreturn record.state"


@pytest.fixture
def ask(mill, monkeypatch):
    """Call a script of one's own, with all that the ledger's scripts have."""
    texts = {"ask_run": ASK_RUN, "ask_file": ASK_FILE}
    common = read_script("seal", "common").removesuffix((LUA / "seal.lua").read_text("utf-8"))
    monkeypatch.setattr("scheduler.scripts.read_script", lambda name, _: common + texts[name])
    return Scripts(mill.client, "common").call


@pytest.mark.parametrize("before", RunState)
def test_every_other_move_of_a_run_is_refused_and_changes_nothing(mill, ask, before):
    for after in RunState:
        mill.client.hset("gm:run:r", "state", before.value)
        if after in RUN_MOVES[before]:
            assert ask("ask_run", "r", after.value) == after
            continue
        with pytest.raises(IllegalMove, match=f"run r that is {before} cannot become {after}$"):
            ask("ask_run", "r", after.value)
        assert mill.client.hget("gm:run:r", "state") == before


@pytest.mark.parametrize("before", [*WorkState, *FileState])
def test_every_other_move_of_a_file_is_refused(ask, before):
    for after in (*WorkState, *FileState):
        if after in FILE_MOVES[before]:
            assert ask("ask_file", before.value, after.value) == after
        else:
            with pytest.raises(IllegalMove, match=f"file that is {before} cannot become {after}$"):
                ask("ask_file", before.value, after.value)


@pytest.mark.parametrize(("run", "to"), [("gone", "running"), ("r", "nowhere")])
def test_a_run_that_is_not_there_and_a_state_that_is_none_are_refused(mill, ask, run, to):
    mill.client.hset("gm:run:r", "state", "open")
    with pytest.raises(IllegalMove):
        ask("ask_run", run, to)
    assert not mill.client.exists("gm:run:gone")


def test_an_outcome_that_a_file_cannot_have_is_refused_and_not_counted(mill):
    with pytest.raises(IllegalMove, match="append: a file that is pending cannot become written"):
        mill.open(Outcome(F.WRITTEN))
    status = mill.ledger.status(mill.run)
    assert (status.total, status.ended) == (0, 0)


def test_a_run_that_was_cancelled_is_not_brought_back_by_reopening_its_files(mill):
    mill.start()
    mill.cancel()
    mill.end(F.FAILED)
    assert mill.state is R.CANCELLED
    assert mill.ledger.reopen(mill.run, [0], F.FAILED) == 0
    assert (mill.state, mill.file) == (R.CANCELLED, F.FAILED)


def test_files_of_a_run_that_is_being_cancelled_are_not_reopened(mill):
    mill.open()
    mill.ledger.append(mill.run, 1, [NewFile("b.txt", 1)])
    mill.ledger.seal(mill.run)
    mill.take()
    mill.claim()
    mill.end(F.FAILED)
    mill.cancel()
    assert mill.state is R.CANCELLING
    assert mill.ledger.reopen(mill.run, [0], F.FAILED) == 0


def test_scripts_change_states_by_moves_alone():
    direct = re.compile(r"run_key\([^)]*\), 'state', |\.state\s*=[^=]|\.state,[^()]*\s=[^=]")
    guilty = [
        f"{path.name}: {line.strip()}"
        for path in sorted(LUA.glob("*.lua"))
        if not path.name.startswith("query_")  # of jobs, not of runs and files
        for line in path.read_text("utf-8").splitlines()
        if direct.search(line) and "HMGET" not in line
    ]
    assert guilty == ["common.lua: redis.call('HSET', run_key(run), 'state', to)", "common.lua: record.state = to"]


@pytest.mark.parametrize(("title", "table"), [("A run", RUN_MOVES), ("A file of a run", FILE_MOVES)])
def test_the_documentation_has_the_same_table(title, table):
    page = (ROOT / "docs" / "recovery.md").read_text("utf-8")
    section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    told = {re.findall(r"`(\w+)`", state)[0]: set(re.findall(r"`(\w+)`", targets)) for state, targets in rows}
    assert told == {state.value: {to.value for to in targets} for state, targets in table.items()}


def test_all_pairs_of_states_are_in_one_of_the_tests():
    assert set(RUN_SCENES) == moves_of(RUN_MOVES)
    assert set(FILE_SCENES) | LISTED == moves_of(FILE_MOVES)
    assert moves_of(RUN_MOVES) < set(product(RunState, RunState))
