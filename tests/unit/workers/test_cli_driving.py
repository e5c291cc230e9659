"""The watching loop: it ticks, survives outages, and tells what keeps it waiting."""

import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import redis

from scheduler.errors import LedgerUnavailable
from scheduler.tick import TickReport
from scheduler.workers import Offer, Worker
from workers.cli import interrupts
from workers.cli.driving import REPEAT_SECONDS, UNREAD_SECONDS, UnreadQueues, drive, interruptible
from workers.cli.exits import Interrupted
from workers.embedded import Death, StackLost


@dataclass
class Bench:
    """A system whose answers are laid out beforehand; an exception among them is raised."""

    answers: list[object]
    deaths: list[Death] = field(default_factory=list)
    living: list[Worker] = field(default_factory=list)
    ticks: int = 0
    lost: bool = False

    @property
    def client(self) -> "Bench":
        return self

    def tick(self) -> TickReport:
        self.ticks += 1
        return TickReport()

    def look(self) -> object:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def supervise(self) -> list[Death]:
        if self.lost:
            raise StackLost("gone")
        deaths, self.deaths = self.deaths, []
        return deaths

    def workers(self) -> list[Worker]:
        return self.living


@pytest.fixture
def said() -> list[str]:
    return []


def watch(bench: Bench, said: list[str], queues: Sequence[str] = ()) -> object:
    return drive(
        bench,
        said.append,
        look=bench.look,
        show=lambda _: None,
        over=lambda state: state == "done",
        needed=lambda _: queues,
    )


def test_it_ticks_until_it_is_over(said) -> None:
    bench = Bench(["going", "going", "done"])
    assert watch(bench, said) == "done"
    assert bench.ticks == 2
    assert said == []


@pytest.mark.parametrize(
    "outage",
    [redis.ConnectionError("refused"), redis.TimeoutError("slow"), LedgerUnavailable("full"), OSError("reset")],
)
def test_an_outage_is_told_once_and_so_is_its_end(outage, said) -> None:
    assert watch(Bench([outage, outage, "going", "done"]), said) == "done"
    assert said == [f"Waiting for Redis: {outage}", "Redis answers again."]


def test_a_fault_is_not_taken_for_an_outage(said) -> None:
    with pytest.raises(ZeroDivisionError):
        watch(Bench([ZeroDivisionError()]), said)


def test_children_that_died_are_told(said) -> None:
    watch(Bench(["done"], deaths=[Death("all", -9, Path("all.log"))]), said)
    assert said == ["all ended unexpectedly (signal 9) and is started again; see all.log"]


def test_a_lost_stack_ends_it(said) -> None:
    with pytest.raises(StackLost):
        watch(Bench([], lost=True), said)


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


def test_a_queue_without_worker_is_told_after_a_while_with_what_to_start(clock, said) -> None:
    bench = Bench([], living=[Worker("load-1@here", ("load",), 1, 1, Offer(), 0.0)])
    unread = UnreadQueues(bench, said.append, lambda: clock[0])
    while clock[0] < UNREAD_SECONDS + REPEAT_SECONDS - 1:
        unread.check(("load", "extract"))
        clock[0] += 1
    assert len(said) == 1
    assert "No living worker reads extract" in said[0]
    assert said[0].endswith("graphmill worker extract")
    bench.living = [Worker("all-1@here", ("load", "extract"), 1, 1, Offer(), 0.0)]
    for _ in range(100):
        unread.check(("load", "extract"))
        clock[0] += 1
    assert len(said) == 1


def test_a_stack_that_cannot_go_on_is_told_with_the_way_on() -> None:
    with (
        pytest.raises(StackLost, match=r"(?s)the owner died.*Nothing is lost: graphmill resume R"),
        interruptible(lambda: "graphmill resume R", print),
    ):
        raise StackLost("the owner died")


def test_ctrl_c_becomes_an_end_that_tells_how_to_go_on(said) -> None:
    with (
        pytest.raises(Interrupted, match="graphmill resume R"),
        interruptible(lambda: "graphmill resume R", said.append),
    ):
        raise KeyboardInterrupt
    assert said == ["Stopping; Ctrl-C again forces it."]


def test_a_signal_whose_exception_was_lost_ends_the_loop_all_the_same():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        interrupts.follow_signals()
        with suppress(KeyboardInterrupt):
            # As in the finalizer of an object, where Python drops it.
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interrupts.check_interrupted()
        interrupts.follow_signals()
        interrupts.check_interrupted()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
