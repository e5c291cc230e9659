"""What is shown of calls that are paid for: keys never, costs always, and how a paused run goes on."""

import pytest

from pipeline.models import Usage
from scheduler.records import Budget, RunStatus
from scheduler.states import RunState
from workers.cli.entries import list_entries
from workers.cli.exits import ExitCode
from workers.cli.output import Output
from workers.cli.program import run
from workers.cli.reports import _show_status
from workers.cli.summary import how_to_go_on, run_document, spell_reason
from workers.settings import Settings

NO_LIMIT = Budget()
SPENT = Usage(calls=3, tokens_in=300, tokens_out=60, usd=0.009)


def paused(reason="", budget=NO_LIMIT, usage=SPENT) -> RunStatus:
    return RunStatus(
        run="R", state=RunState.PAUSED, graph="kb", root="/files", total=2, pending=2, in_flight=0,
        counts=dict.fromkeys(
            ("written", "updated", "removed", "unchanged", "changed", "skipped", "failed", "cancelled"), 0
        ),
        created_at=1.0, sealed_at=None, ingested_at=None, ended_at=None, error="", reason=reason, priority=0,
        options={}, usage=usage, budget=budget, passages_read=3,
    )  # fmt: skip


def test_keys_and_passwords_are_never_shown(monkeypatch, capsys) -> None:
    monkeypatch.setenv("GRAPHMILL_LLM_API_KEY", "sk-of-mine")
    monkeypatch.setenv("GRAPHMILL_CALLS__API_BASE", "https://me:pass-of-mine@example.org/v1")
    monkeypatch.setenv("REDIS_URL", "redis://me:pass-of-mine@example.org/0")
    for form in ((), ("--json",), ("--format", "env"), ("--format", "markdown")):
        assert run(["settings", *form]) == ExitCode.OK
        assert "of-mine" not in capsys.readouterr().out
    shown = {entry.name: entry.value for entry in list_entries(Settings())}
    assert shown["GRAPHMILL_LLM_API_KEY"] == "***"
    assert shown["GRAPHMILL_CALLS__API_BASE"] == "https://me:***@example.org/v1"


@pytest.mark.parametrize(
    ("budget", "usage", "command"),
    [
        (Budget(), SPENT, "graphmill resume R --data-dir d"),
        (Budget(tokens=361, usd=1.0), SPENT, "graphmill resume R --data-dir d"),
        (Budget(tokens=360), SPENT, "graphmill resume R --max-tokens N --data-dir d"),
        (Budget(usd=0.009), SPENT, "graphmill resume R --max-usd USD --data-dir d"),
        (Budget(usd=0.009), Usage(3, 300, 60, None), "graphmill resume R --data-dir d"),
    ],
)
def test_a_run_that_has_spent_all_goes_on_with_a_larger_limit(budget, usage, command) -> None:
    assert how_to_go_on(paused(budget=budget, usage=usage), " --data-dir d") == command


def test_a_reason_is_one_sentence_however_it_ends() -> None:
    assert spell_reason("the key\n is wrong") == spell_reason("the key is wrong.") == "the key is wrong."


def test_status_tells_why_a_run_is_paused_and_what_it_has_cost(capsys) -> None:
    row = {**run_document(paused("The service takes no such key.")), "stages": {}}
    memory = {"held_back": False}
    found = {"runs": [row], "finalizes": [], "queues": {}, "workers": [], "memory": memory, "notice": ""}
    _show_status(Output(as_json=False), found, again=False)
    said = capsys.readouterr().out
    assert "R is paused: The service takes no such key.\n" in said
    assert "R: Language model: 3 calls, 300 tokens in, 60 out, 0.0090 USD; 3 passages read, 0 known before" in said
