"""What is shown: nothing that a terminal would obey, pace and steps, remarks that do not repeat themselves."""

import json
from dataclasses import replace

import pytest

from scheduler.records import FileReport, FinalizeStatus, RunStatus
from scheduler.states import FileState, RunState
from scheduler.workers import Offer, Worker
from workers.addresses import mask_url, spell_for_redis
from workers.cli.driving import Reminder, role_for
from workers.cli.health import fresh_workers
from workers.cli.output import Output, one_line, printable, seconds_text
from workers.cli.progress import LineDisplay, LiveDisplay, Pace, Step
from workers.cli.reports import _show_run_table
from workers.cli.steps import run_steps
from workers.cli.summary import run_document, run_seconds, show_file

IDLE = FinalizeStatus("kb", "idle", 0, "", 0, 0, {}, "", 0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def status_of(state: RunState, **changes) -> RunStatus:
    fields = {
        "run": "R",
        "state": state,
        "graph": "kb",
        "root": "/files",
        "total": 10,
        "pending": 3,
        "in_flight": 2,
        "counts": {"written": 4, "failed": 1},
        "created_at": 100.0,
        "sealed_at": 101.5,
        "ingested_at": None,
        "ended_at": None,
        "error": "",
        "reason": "",
        "priority": 0,
        "options": {},
    }
    return RunStatus(**{**fields, **changes})


def test_control_characters_and_reordering_marks_are_spelled_out() -> None:
    assert printable("a\x1b[31mb\u202ec\x9bd") == "a\\x1b[31mb\\x202ec\\x9bd"
    assert printable("é中\u200d\ttab\nline") == "é中\u200d\ttab\nline"
    assert one_line(" a \n\n b\t c ") == "a b c"


def test_markup_in_names_and_messages_is_shown_as_it_stands(capsys) -> None:
    output = Output(as_json=False)
    output.line("[red]x[/red] :smile: [/]")
    output.paragraph("[bold]y[/bold]")
    output.table(("name",), [("[link=x]z[/link]",)])
    output.note("[blink]n[/blink]")
    said = capsys.readouterr()
    assert said.out.split() == ["[red]x[/red]", ":smile:", "[/]", "[bold]y[/bold]", "name", "[link=x]z[/link]"]
    assert said.err == "[blink]n[/blink]\n"


def test_piped_tables_have_no_trailing_blanks_and_cut_nothing(capsys) -> None:
    long = "x" * 200
    Output(as_json=False).table(("a", "b"), [("1", long), ("22", "y")], right=(0,))
    assert capsys.readouterr().out == f" a  b\n 1  {long}\n22  y\n"


def test_a_document_is_one_line_of_json_in_readable_letters(capsys) -> None:
    Output(as_json=True).document({"name": "é中\n"})
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert json.loads(said) == {"name": "é中\n"}


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (60, "1:00"), (3599.9, "1:00:00")]
)
def test_durations_are_spelled_by_their_size(seconds, text) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:secret@host:1/0", "redis://:***@host:1/0"),
        ("rediss://me:se%40cret@host:1/0?a=b", "rediss://me:***@host:1/0?a=b"),
        ("redis://host:1", "redis://host:1"),
        ("redis://[broken:secret@x", "***"),
    ],
)
def test_addresses_are_shown_without_password(url, shown) -> None:
    assert mask_url(url) == shown


@pytest.mark.parametrize(
    ("url", "spelled"),
    [
        ("falkor://:falkor-pw@falkordb:1/0", "redis://:falkor-pw@falkordb:1/0"),
        ("falkors://host:1", "rediss://host:1"),
        ("redis://:falkor-pw@falkordb:1/0", "redis://:falkor-pw@falkordb:1/0"),
    ],
)
def test_only_the_scheme_of_an_address_is_spelled_for_redis(url, spelled) -> None:
    assert spell_for_redis(url) == spelled


def test_pace_goes_by_the_last_half_minute(clock) -> None:
    pace = Pace(clock)
    pace.see(0)
    assert pace.rate == 0
    for _ in range(60):
        clock.now += 1
        pace.see(0)
    for done in range(1, 31):
        clock.now += 1
        pace.see(done * 2)
    assert pace.rate == pytest.approx(2.0)
    assert pace.left(Step("ingest", 60, 100)) == pytest.approx(20.0)
    assert pace.left(Step("list", 60)) is None


def test_plain_progress_says_little_and_says_when_a_step_ends(clock) -> None:
    said: list[str] = []
    display = LineDisplay(said.append, clock)
    for done in range(11):
        display.show([Step("ingest", done, 10, "load 2")])
        clock.now += 1
    display.show([Step("ingest", 10, 10), Step("merge", 0, 3)])
    display.show([Step("ingest", 10, 10), Step("embed", 2, 2)])
    assert said == [
        "ingest: 5/10, 1.0/s, 5.0 s left (load 2)",
        "ingest: 10 in 10 s",
        "merge: 0/3",
        "merge: 3 in 0.0 s",
        "embed: 2 in 0.0 s",
    ]


def test_bars_fit_a_narrow_terminal(capsys) -> None:
    from rich.console import Console

    output = Output(as_json=False)
    output.__dict__["remarks"] = Console(width=80, force_terminal=True, highlight=False, color_system=None)
    with LiveDisplay(output) as display:
        display.show([Step("list", 1_234_567, 1_234_567)])
        display.show([Step("finalize", 1_000_000, 1_234_567, "load 2, " * 20 + "[red]")])
        display.note("a [bold]remark[/bold]")
    said = capsys.readouterr().out
    assert "a [bold]remark[/bold]" in said
    last = [line for line in said.splitlines() if "1,000,000/1,234,567" in line][-1]
    assert len(last) < 200  # with the terminal's control sequences


def test_a_running_run_shows_its_stages_and_a_finalizing_one_its_phase() -> None:
    running = run_steps(status_of(RunState.RUNNING), {"extract": 1, "queued": 1}, IDLE)
    assert running == [Step("ingest", 5, 10, "extract 1, queued 1, 1 failed")]
    finalize = FinalizeStatus("kb", "running", 1, "facts", 8, 3, {}, "", 0)
    finalizing = status_of(RunState.FINALIZING, counts={"written": 10}, pending=0, in_flight=0)
    assert run_steps(finalizing, {}, finalize) == [Step("ingest", 10, 10), Step("facts", 5, 8)]


def test_internal_errors_are_shown_apart_with_where_to_look(capsys) -> None:
    counts = {state.value: 0 for state in FileState} | {"written": 4, "failed": 3}
    document = run_document(status_of(RunState.DONE, counts=counts, pending=0, in_flight=0, internal_errors=2))
    assert document["internal_errors"] == 2
    _show_run_table(Output(as_json=False), [document])
    said = capsys.readouterr().out
    assert "4 written, 3 failed (2 by an internal error)" in said
    assert "2 files failed by an internal error: a fault of graphmill" in said
    assert "traceback is in the log of the worker" in said
    _show_run_table(Output(as_json=False), [{**document, "internal_errors": 0}])
    assert "internal" not in capsys.readouterr().out


def test_a_file_with_an_internal_error_names_the_worker_whose_log_tells_more(capsys) -> None:
    report = FileReport(0, "a.txt", 1, "failed", "internal_error", "A fault", "load", {"worker": "ingest@host"})
    show_file(Output(as_json=False), report)
    show_file(Output(as_json=False), replace(report, code="corrupt"))
    first, _, second, _ = capsys.readouterr().out.splitlines()
    assert first == "a.txt: failed internal_error (load, on ingest@host)"
    assert second == "a.txt: failed corrupt (load)"


def test_seconds_of_a_run_leave_out_what_has_not_ended() -> None:
    assert run_seconds(status_of(RunState.RUNNING)) == {"list": 1.5}
    done = status_of(RunState.DONE, ingested_at=111.5, ended_at=112.0)
    assert run_seconds(done) == {"list": 1.5, "ingest": 10.0, "finalize": 0.5, "total": 12.0}


def test_a_reminder_is_repeated_only_after_a_while(clock) -> None:
    said: list[str] = []
    reminder = Reminder(said.append, clock)
    for _ in range(130):
        reminder.remind("waiting")
        clock.now += 1
    assert said == ["waiting"] * 3
    assert reminder.clear()
    assert not reminder.clear()
    reminder.remind("waiting")
    assert len(said) == 4


@pytest.mark.parametrize(
    ("queues", "role"),
    [(["extract"], "extract"), (["load", "write"], "ingest"), (["write", "finalize"], "all"), (["query"], "query")],
)
def test_the_smallest_fitting_role_is_suggested(queues, role) -> None:
    assert role_for(queues) == role


def test_health_of_a_role_counts_fresh_workers_of_this_host_only() -> None:
    workers = [
        Worker("query-1@here", ("query",), 1, 1, Offer(), seen=95.0),
        Worker("query-2@there", ("query",), 1, 2, Offer(), seen=95.0),
        Worker("query-3@here", ("query",), 1, 3, Offer(), seen=75.0),
        Worker("load-4@here", ("load",), 1, 4, Offer(), seen=95.0),
    ]
    assert [worker.name for worker in fresh_workers(workers, "query", "here", now=100.0)] == ["query-1@here"]
