"""The leases against a model of their rules in plain Python, over histories that Hypothesis makes up.

Time passes only when a history says so. The double runs on a clock of ours. On a real Redis all stored
instants are moved into the past instead, and lives are hours, so that the server's own clock does not show.
"""

from unittest.mock import patch

import fakeredis
import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from scheduler import leases as module
from scheduler.leases import Access, Leases, Standing

GRAPH = "kb [1]"
KEY = f"gm:lease:{GRAPH}"
SETS = ("shared", "turn", "wait:x", "wait:s")
RETURNING = "(returning)"
# Passing time comes in whole hours and lives end at half past: a history is never about a millisecond.
HOUR_MS = 3_600_000
HALF_MS = HOUR_MS // 2
WISH_MS, RETURN_MS, TTL_MS = HOUR_MS + HALF_MS, 3 * HOUR_MS + HALF_MS, 5 * HOUR_MS + HALF_MS

shared_names = st.sampled_from(["a", "b", "c"])
exclusive_names = st.sampled_from(["x", "y"])
document_ids = st.lists(st.sampled_from(["file:1", "file:2", "file:3"]), min_size=1, unique=True)
CALM_GRANTS = 6
"""How many grants there are between two troubles, so that histories are not troubles alone."""
WISHES = {"WISH_MS": WISH_MS, "RETURN_MS": RETURN_MS}


class Clock:
    """A wall clock that stands still."""

    def __init__(self):
        self.ms = 1_800_000_000_000

    def __call__(self):
        return self.ms / 1000


class LeaseMachine(RuleBasedStateMachine):
    """The double under a clock of ours."""

    def __init__(self):
        super().__init__()
        self.patches = [patch.multiple(module, **WISHES)]
        self.connect()
        for one in self.patches:
            one.start()
        self.leases = Leases(self.client, ttl_ms=TTL_MS)
        self.now = 0
        self.forget()
        self.seen, self.calm_until = 0, CALM_GRANTS
        # The graph's fence, and what each grant believes: holder -> [access, epoch, raised, number of the grant].
        self.fence, self.beliefs, self.grants, self.newest_exclusive = 0, {}, 0, 0

    def connect(self):
        self.clock = Clock()
        self.patches.append(patch("time.time", self.clock))
        self.client = fakeredis.FakeRedis(decode_responses=True, version=(7, 4))

    def advance(self, ms):
        self.clock.ms += ms

    def teardown(self):
        for one in reversed(self.patches):
            one.stop()

    # The model

    def forget(self):
        self.epoch, self.last, self.alone, self.until = 0, "", "", 0
        self.sets = {name: {} for name in SETS}
        self.documents = {}

    def end_what_ran_out(self):
        for name, ends in self.sets.items():
            self.sets[name] = {who: end for who, end in ends.items() if end > self.now}
        self.documents = {one: (who, end) for one, (who, end) in self.documents.items() if end > self.now}
        if self.alone and self.until <= self.now:
            self.end_exclusive()

    def end_exclusive(self):
        self.alone = ""
        self.sets["turn"] = dict(self.sets["wait:s"])

    def expect_grant(self, epoch, access, holder, *, new):
        if new:
            assert epoch > self.epoch, "a new group of holders has a new epoch"
            self.epoch, self.last = epoch, access
        assert epoch == self.epoch
        known = self.beliefs.get(holder)
        if known is None or known[1] != epoch:
            self.grants += 1
            self.beliefs[holder] = [access, epoch, False, self.grants]

    # What holders do

    @rule(holder=shared_names)
    def ask_shared(self, holder):
        self.end_what_ran_out()
        epoch = self.leases.try_graph(GRAPH, Access.SHARED, holder)
        barred = self.alone or (self.sets["wait:x"] and holder not in self.sets["turn"])
        if barred and holder not in self.sets["shared"]:
            self.sets["wait:s"][holder] = self.now + WISH_MS
            assert epoch == 0
            return
        self.sets["shared"][holder] = self.now + TTL_MS
        self.sets["wait:s"].pop(holder, None)
        self.sets["turn"].pop(holder, None)
        self.expect_grant(epoch, Access.SHARED, holder, new=self.last != Access.SHARED)

    @rule(holder=exclusive_names)
    def ask_exclusive(self, holder):
        self.end_what_ran_out()
        epoch = self.leases.try_graph(GRAPH, Access.EXCLUSIVE, holder)
        new = self.alone != holder
        if new and (self.alone or self.sets["shared"] or self.sets["turn"]):
            self.sets["wait:x"][holder] = self.now + WISH_MS
            assert epoch == 0
            return
        self.alone, self.until = holder, self.now + TTL_MS
        for who in (holder, RETURNING):
            self.sets["wait:x"].pop(who, None)
        self.expect_grant(epoch, Access.EXCLUSIVE, holder, new=new)

    @rule(holder=shared_names)
    def renew_shared(self, holder):
        self.end_what_ran_out()
        held = holder in self.sets["shared"]
        assert self.leases.renew_graph(GRAPH, Access.SHARED, holder) == held
        if held:
            self.sets["shared"][holder] = self.now + TTL_MS

    @rule(holder=exclusive_names)
    def renew_exclusive(self, holder):
        self.end_what_ran_out()
        assert self.leases.renew_graph(GRAPH, Access.EXCLUSIVE, holder) == (self.alone == holder)
        if self.alone == holder:
            self.until = self.now + TTL_MS

    @rule(holder=shared_names)
    def release_shared(self, holder):
        self.end_what_ran_out()
        assert self.leases.release_graph(GRAPH, Access.SHARED, holder) == (holder in self.sets["shared"])
        for name in ("shared", "turn", "wait:s"):
            self.sets[name].pop(holder, None)

    @rule(holder=exclusive_names, comes_back=st.booleans())
    def release_exclusive(self, holder, comes_back):
        self.end_what_ran_out()
        self.sets["wait:x"].pop(holder, None)
        return_ms = RETURN_MS if comes_back else 0
        given_back = self.leases.release_graph(GRAPH, Access.EXCLUSIVE, holder, return_ms=return_ms)
        assert given_back == (self.alone == holder)
        if self.alone == holder:
            self.end_exclusive()
        elif comes_back:
            self.sets["wait:x"][RETURNING] = self.now + RETURN_MS

    @precondition(lambda self: self.beliefs)
    @rule(data=st.data())
    def write(self, data):
        """Write as a holder does, whether or not its lease still holds: the fence alone decides."""
        holder = data.draw(st.sampled_from(sorted(self.beliefs)))
        access, epoch, raised, number = self.beliefs[holder]
        strictly = access is Access.EXCLUSIVE and not raised
        if epoch < self.fence or (strictly and epoch == self.fence):
            del self.beliefs[holder]
            self.reseed(self.fence, access)
            return
        assert number >= self.newest_exclusive, "a grant writes after a newer exclusive one has written"
        self.fence = epoch
        self.beliefs[holder][2] = True
        if access is Access.EXCLUSIVE:
            self.newest_exclusive = number

    def reseed(self, fence, access):
        self.end_what_ran_out()
        counter = self.leases.reseed(GRAPH, fence, access)
        refused = self.epoch == fence and access is Access.EXCLUSIVE and self.last != Access.SHARED
        if self.epoch < fence or refused:
            assert counter >= fence
            self.epoch, self.last, self.alone = counter, "", ""
            self.sets["shared"] = {}
        assert counter == self.epoch

    # What happens to them

    @rule(hours=st.sampled_from([1, 1, 2, 6]))
    def time_passes(self, hours):
        self.now += hours * HOUR_MS
        self.advance(hours * HOUR_MS)
        self.end_what_ran_out()

    @precondition(lambda self: self.grants >= self.calm_until)
    @rule(trouble=st.sampled_from(["counter lost", "redis emptied", "fence raised"]), ahead=st.integers(1, 1000))
    def the_ground_moves(self, trouble, ahead):
        self.calm_until = self.grants + CALM_GRANTS
        if trouble == "fence raised":
            self.fence += ahead
        elif trouble == "counter lost":
            self.client.delete(KEY)
            self.epoch, self.last, self.alone = 0, "", ""
        else:
            self.client.flushall()
            self.forget()
        self.after_a_loss()

    def after_a_loss(self):
        self.seen = 0

    # What is true at every instant

    @invariant()
    def the_report_tells_what_the_model_holds(self):
        self.end_what_ran_out()
        report = self.leases.read(GRAPH)
        assert report.epoch == self.epoch
        seen = {(use.holder, use.access, use.standing) for use in report.uses}
        # One that ended is in nobody's way; that the shared ones have the turn shows at the next request.
        held = {(who, Access.SHARED, Standing.HOLDS) for who in self.sets["shared"]}
        held |= {(self.alone, Access.EXCLUSIVE, Standing.HOLDS)} if self.alone else set()
        assert {use for use in seen if use[2] is Standing.HOLDS} == held
        assert {use[0] for use in seen if use[2] is not Standing.HOLDS} == {
            who for name in ("turn", "wait:x", "wait:s") for who in self.sets[name]
        }
        assert report.documents == len(self.documents)
        assert {use.document: use.holder for use in report.first} == {d: w for d, (w, _) in self.documents.items()}

    @invariant()
    def exclusive_means_alone(self):
        assert not (self.alone and self.sets["shared"])

    @invariant()
    def the_counter_never_goes_back_by_itself(self):
        assert self.epoch >= self.seen
        self.seen = self.epoch


class DocumentMachine(LeaseMachine):
    """Documents besides."""

    @rule(holder=shared_names, names=document_ids)
    def take_documents(self, holder, names):
        self.end_what_ran_out()
        refused = {one for one in names if self.documents.get(one, (holder,))[0] != holder}
        assert self.leases.take_documents(GRAPH, holder, names) == refused
        self.documents.update({one: (holder, self.now + TTL_MS) for one in names if one not in refused})

    @rule(holder=shared_names, names=document_ids)
    def renew_documents(self, holder, names):
        self.end_what_ran_out()
        mine = {one for one in names if self.documents.get(one, ("",))[0] == holder}
        assert self.leases.renew_documents(GRAPH, holder, names) == set(names) - mine
        self.documents.update(dict.fromkeys(mine, (holder, self.now + TTL_MS)))

    @rule(holder=shared_names, names=document_ids)
    def release_documents(self, holder, names):
        self.end_what_ran_out()
        self.leases.release_documents(GRAPH, holder, names)
        for one in names:
            if self.documents.get(one, ("",))[0] == holder:
                del self.documents[one]


def make_real_machine(client):
    """Make the machine on a real server, where time passes by moving every stored instant."""

    class RealLeaseMachine(DocumentMachine):
        def connect(self):
            self.client = client
            client.flushall()

        def advance(self, ms):
            if until := client.hget(KEY, "until"):
                client.hset(KEY, "until", int(float(until)) - ms)
            for name in SETS:
                for who, end in client.zrange(f"{KEY}:{name}", 0, -1, withscores=True):
                    client.zadd(f"{KEY}:{name}", {who: end - ms})
            for key in client.keys("gm:doc:*"):
                client.pexpire(key, client.pttl(key) - ms)

    return RealLeaseMachine


def run(machine, examples):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=40,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_every_history_agrees_with_the_model_on_the_double():
    run(LeaseMachine, 25)


def test_documents_agree_with_the_model_on_the_double():
    run(DocumentMachine, 10)


def test_some_histories_agree_with_the_model_on_a_real_redis(redis_client):
    run(make_real_machine(redis_client), 20)


def test_a_lost_counter_never_gives_a_number_that_an_earlier_grant_still_holds(redis_client):
    leases = Leases(redis_client, ttl_ms=60_000)
    asleep = leases.try_graph("kb", Access.SHARED, "asleep before its first write")
    redis_client.flushall()
    assert leases.try_graph("kb", Access.EXCLUSIVE, "x") > asleep, "the fence lets both write"


def test_one_that_is_refused_late_does_not_end_the_shared_leases_that_came_after_it(redis_client):
    leases = Leases(redis_client, ttl_ms=60_000)
    leases.try_graph("kb", Access.EXCLUSIVE, "slept")
    redis_client.hset("gm:lease:kb", "until", 1)
    fence = leases.try_graph("kb", Access.SHARED, "a")
    leases.reseed("kb", fence, Access.EXCLUSIVE)
    assert leases.renew_graph("kb", Access.SHARED, "a")


def test_shared_ones_that_waited_go_first_also_after_an_exclusive_one_that_died(redis_client):
    leases = Leases(redis_client, ttl_ms=60_000)
    leases.try_graph("kb", Access.EXCLUSIVE, "dead")
    assert not leases.try_graph("kb", Access.SHARED, "s")
    redis_client.hset("gm:lease:kb", "until", 1)
    assert not leases.try_graph("kb", Access.EXCLUSIVE, "next")
    assert leases.try_graph("kb", Access.SHARED, "s")
