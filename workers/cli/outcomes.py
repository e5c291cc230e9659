"""What came of a finalize, in words: counts and time by phase, and by name what was held, set aside or left open."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scheduler.finalize import PHASES, Phase
from workers.cli.output import Output, count_text, one_line, seconds_text

if TYPE_CHECKING:
    from scheduler.plan_report import OpenPair, PlanReport

SHOWN = 5
"""Held groups, collisions and open pairs that are shown unless all are asked for."""
_VALUE_CHARS = 60
_TIME = "_ms"
_SHOWN_TIME_MS = 50
"""A phase that counted nothing is shown if it took as long as this."""
_BESIDE = "embed"
"""What other parts do while one judges."""
_ROWS = (*PHASES[: PHASES.index(Phase.MERGE)], _BESIDE, *PHASES[PHASES.index(Phase.MERGE) :], "")
_WORDS = {
    "files_lost": (Phase.PLAN, "file sent round again", "files sent round again"),
    "names_embedded": (Phase.NAMES, "name embedded", "names embedded"),
    "sets": (Phase.JUDGE, "set of like names judged", "sets of like names judged"),
    "merges_planned": (Phase.JUDGE, "merge planned", "merges planned"),
    "renamed": (Phase.JUDGE, "name chosen", "names chosen"),
    "held": (Phase.JUDGE, "group held", "groups held"),
    "held_entities": (Phase.JUDGE, "entity waits for an answer", "entities wait for an answer"),
    "unanswered": (Phase.JUDGE, "set without a usable answer", "sets without a usable answer"),
    "undecided": (Phase.JUDGE, "pair undecided", "pairs undecided"),
    "collisions": (Phase.JUDGE, "collision", "collisions"),
    "names_not_compared": (Phase.JUDGE, "name compared by its spelling only", "names compared by their spelling only"),
    "judge_calls": (Phase.JUDGE, "call of the language model", "calls of the language model"),
    "judge_tokens": (Phase.JUDGE, "token", "tokens"),
    "merged": (Phase.MERGE, "entity merged into another", "entities merged into others"),
    "separated": (
        Phase.MERGE,
        "merge undone, as two rows of tables bear its name now",
        "merges undone, as two rows of tables bear their names now",
    ),
    "merges_outdated": (
        Phase.MERGE,
        "merge put off, as its entities changed after they were judged",
        "merges put off, as their entities changed after they were judged",
    ),
    "entity_derived": (Phase.DERIVE, "entity brought up to date", "entities brought up to date"),
    "relation_derived": (Phase.FACTS, "fact brought up to date", "facts brought up to date"),
    "chunk_embedded": (_BESIDE, "passage embedded", "passages embedded"),
    "entity_embedded": (Phase.DERIVE, "new name embedded", "new names embedded"),
    "relation_embedded": (Phase.FACTS, "fact embedded", "facts embedded"),
    "pending_cleared": (Phase.INDEX, "element done", "elements done"),
    "superseded_forgotten": (Phase.INDEX, "superseded passage forgotten", "superseded passages forgotten"),
    "verdicts_forgotten": (Phase.INDEX, "verdict on gone entities forgotten", "verdicts on gone entities forgotten"),
}
_OPEN = ("held", "collisions", "undecided")


def describe_open(report: Mapping[str, int]) -> str:
    """Tell in a few words what of a finalize a person may look into; '' where there is nothing."""
    return ", ".join(count_text(report[name], *_WORDS[name][1:]) for name in _OPEN if report.get(name))


def list_phases(report: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Give each phase with the time of its parts together, and what it counted: what is zero is left out."""
    told: dict[str, list[str]] = defaultdict(list)
    for name in sorted(report, key=_place):
        if report[name] and not name.endswith(_TIME):
            phase, *words = _WORDS.get(name, ("", *(name.replace("_", " "),) * 2))
            told[phase].append(count_text(report[name], *words))
    rows = []
    for phase in _ROWS:
        took = report.get(f"{phase}{_TIME}")
        if told[phase] or (took or 0) >= _SHOWN_TIME_MS:
            rows.append((str(phase), "" if took is None else seconds_text(took / 1000), ", ".join(told[phase])))
    return rows


def show_outcome(
    output: Output, report: Mapping[str, int], plan: "PlanReport | None", place: str, *, everything: bool
) -> None:
    """Show what a finalize counted, and by name what is left to look into.

    `place` are the flags that name the graph, for the commands that are suggested.
    """
    output.table(("phase", "time", "done"), list_phases(report), right=(1,))
    if plan is not None:
        more = "" if everything else f"graphmill finalize --watch --all{place}"
        show_held(output, plan, more)
        show_clashes(output, plan, more)
    elif report.get("held") or report.get("collisions"):
        output.paragraph(
            "Which entities are held or collide stands in the artifact folder of the workers, which has it no more or "
            "is not the one that this command uses (GRAPHMILL_ARTIFACTS_DIR).",
            indent=0,
        )
    if report.get("undecided"):
        output.line(f"\nTo see the undecided pairs: graphmill merges undecided{place}")


def show_held(output: Output, plan: "PlanReport", more: str) -> None:
    """Show the groups that an answer of the judge is missing for: the first few, and the command that shows `more`.

    Without one all are shown.
    """
    if plan.held:
        output.line(
            f"\nHeld ({len(plan.held):,}): not merged without the judge's answer; the next finalize asks again.", "bold"
        )
    for group in _first(plan.held, more):
        members = zip(group.ids, group.names, strict=True)
        output.paragraph(" | ".join(_entity(name, identity) for identity, name in members))
    _show_rest(output, plan.held, more)


def show_clashes(output: Output, plan: "PlanReport", more: str) -> None:
    """Show of which attributes a value is set aside; `more` as for `show_held`."""
    if plan.clashes:
        output.line(f"\nCollisions ({len(plan.clashes):,}): entities that are one say different things.", "bold")
    for one in _first(plan.clashes, more):
        output.paragraph(
            f"{_entity(one.into_name, one.into)}: {one.attribute} stays {_value(one.kept_value)} (of {one.kept}); "
            f"{_value(one.dropped_value)} (of {one.dropped}) is set aside"
        )
    _show_rest(output, plan.clashes, more)


def show_undecided(output: Output, pairs: "Sequence[OpenPair]", more: str) -> None:
    """Show the pairs that a finalize would leave open; `more` as for `show_held`."""
    if pairs:
        output.line(f"\nUndecided ({len(pairs):,}): they stay two.", "bold")
    for one in _first(pairs, more):
        (first, second), (name, other) = one.ids, one.names
        output.paragraph(f"{_entity(name, first)} | {_entity(other, second)}: {one.reason} ({one.judge})")
    _show_rest(output, pairs, more)


def _place(name: str) -> int:
    return list(_WORDS).index(name) if name in _WORDS else len(_WORDS)


def _first[T](things: Sequence[T], more: str) -> Sequence[T]:
    return things[:SHOWN] if more else things


def _show_rest(output: Output, things: Sequence[object], more: str) -> None:
    if more and len(things) > SHOWN:
        output.paragraph(f"and {len(things) - SHOWN:,} more: {more}")


def _entity(name: str, identity: str) -> str:
    return f"{one_line(name)} ({one_line(identity)})" if name else one_line(identity)


def _value(value: Any) -> str:
    text = one_line(str(value))
    shown = text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 3]}..."
    return f'"{shown}"' if isinstance(value, str) else shown
