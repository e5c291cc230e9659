"""What an interrupted command says of its run."""

from dataclasses import dataclass, field

import pytest
from kombu.exceptions import OperationalError

from scheduler.errors import LedgerUnavailable
from scheduler.states import RunState
from workers.cli.exits import Interrupted
from workers.cli.orders import follow_run, how_to_go_on


@dataclass
class Bench:
    """A system with one run, whose state is laid out beforehand; it is its own client and display."""

    state: RunState = RunState.OPEN
    options: dict[str, object] = field(default_factory=lambda: {"paths": []})
    graph: str = "kb"
    away: bool = False

    @property
    def client(self) -> "Bench":
        return self

    def status(self, run: str) -> "Bench":
        if self.away:
            raise LedgerUnavailable("Redis does not answer.")
        return self

    def note(self, text: str) -> None: ...

    def tick(self) -> None: ...


def test_a_run_whose_list_is_not_whole_goes_on_only_where_it_can_be_made_again() -> None:
    assert how_to_go_on(Bench(), "R", " --data-dir D") == (
        "run R had not begun. Give the command again (graphmill cancel R --data-dir D puts that run away)."
    )
    resume = "graphmill resume R --data-dir D"
    assert how_to_go_on(Bench(options={"paths": ["/corpus"]}), "R", " --data-dir D") == resume
    assert how_to_go_on(Bench(RunState.RUNNING), "R", " --data-dir D") == resume


def test_where_the_ledger_does_not_answer_resume_is_left_to_say_it() -> None:
    assert how_to_go_on(Bench(away=True), "R", "") == "graphmill resume R"


def interrupt(*_args: object, **_how: object) -> str:
    raise KeyboardInterrupt


def test_an_interrupted_command_says_what_became_of_its_run() -> None:
    def interrupt_later(opened, **_) -> str:
        opened("R")
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="no run was made yet"):
        follow_run(Bench(), Bench(), interrupt, "")
    with pytest.raises(Interrupted, match="run R had not begun"):
        follow_run(Bench(), Bench(), interrupt_later, "")


@pytest.mark.parametrize(("detach", "ticks"), [(False, 1), (True, 0)])
def test_workers_begin_on_a_run_that_is_followed_and_on_no_other(detach, ticks, monkeypatch) -> None:
    bench, ticked = Bench(state=RunState.DONE), []
    monkeypatch.setattr(Bench, "tick", lambda _: ticked.append(1))
    monkeypatch.setattr("workers.cli.watching.watch_run", lambda *_: bench)

    def submit(opened, listed, sealed=lambda: None) -> str:
        opened("R")
        sealed()
        return "R"

    assert follow_run(bench, bench, submit, "", detach=detach) is bench
    assert len(ticked) == ticks


def test_a_broker_that_is_away_for_a_moment_does_not_end_a_run_that_has_begun(monkeypatch) -> None:
    def fail(_) -> None:
        raise OperationalError("the broker is away")

    bench = Bench(state=RunState.DONE)
    monkeypatch.setattr(Bench, "tick", fail)
    monkeypatch.setattr("workers.cli.watching.watch_run", lambda *_: bench)

    def submit(opened, listed, sealed) -> str:
        opened("R")
        sealed()
        return "R"

    assert follow_run(bench, bench, submit, "") is bench
