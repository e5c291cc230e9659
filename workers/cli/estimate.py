"""`graphmill ingest --dry-run`: what an ingest would take; nothing is made, written or asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workers.cli.exits import ExitCode
from workers.cli.output import Output, count_text, seconds_text
from workers.cli.progress import Step, open_display

if TYPE_CHECKING:
    from pipeline.estimate import Estimate, Survey
    from scheduler.records import Budget
    from workers.settings import Settings

_KILO = 1_000
_CENT = 0.01


def estimate_ingest(
    output: Output, settings: "Settings", root: Path, paths: Sequence[Path], budget: "Budget | None"
) -> ExitCode:
    """Read and cut the files as an ingest would, and show what that would take; needs no server and no worker."""
    from pipeline.estimate import estimate
    from workers.bootstrap import find_artifacts
    from workers.cli.driving import interruptible
    from workers.cli.interrupts import check_interrupted
    from workers.estimating import survey
    from workers.extractors import price_tokens
    from workers.resources import build_recipe

    config = settings.recipe
    recipe, artifacts = build_recipe(settings, config), find_artifacts(settings)
    with open_display(output) as display, interruptible(lambda: "a dry run makes nothing.", display.note):

        def surveyed(files: int, passages: int) -> None:
            check_interrupted()
            display.show([Step("read", files, detail=f"{passages:,} passages")])

        found = survey(
            root, paths, recipe, lambda key: artifacts is not None and artifacts.get(key) is not None, surveyed
        )
        display.show([Step("read", found.files, found.files)])
    prices = price_tokens(settings, config)
    told = estimate(found, config, settings.calls, prices, processes=settings.concurrency)
    status = show_estimate(output, told, budget)
    if settings.ontology is None:
        output.note(
            "Counted with the default types: no graph is looked at. Where a graph keeps another ontology, set "
            "GRAPHMILL_ONTOLOGY to what `graphmill ontology export --graph NAME -o FILE` writes."
        )
    return status


def show_estimate(output: Output, estimate: "Estimate", budget: "Budget | None") -> ExitCode:
    """Show an estimate, and whether a run with this budget would pause."""
    over = estimate.exceeds(budget.usd, budget.tokens) if budget else []
    if output.as_json:
        output.document(estimate_document(estimate, over))
        return ExitCode.OK
    found = estimate.survey
    _show_files(output, found)
    output.line(
        f"Passages: {found.passages:,}, of these {found.repeated:,} repeated and {found.stored:,} read before; "
        f"{found.to_read:,} {'is' if found.to_read == 1 else 'are'} to be read"
    )
    _show_calls(output, estimate)
    if estimate.upper_bound:
        output.line("At most: which passages go to the language model shows when GLiNER has read them.")
    for limit in over:
        output.line(f"More than --max-{limit}: the run would pause there, and can go on with a higher limit.", "yellow")
    output.note("An estimate: nothing was made, written or asked. Documents that a graph holds unchanged cost nothing.")
    return ExitCode.OK


def estimate_document(estimate: "Estimate", over: Sequence[str]) -> dict[str, Any]:
    """Give an estimate as JSON; `usd` and `seconds` are null where they are not known."""
    from dataclasses import asdict

    found = estimate.survey
    return {
        "dry_run": True,
        "files": {"total": found.files, "bytes": found.bytes, "unread": dict(sorted(found.unread.items()))},
        "types": {suffix: asdict(one) for suffix, one in sorted(found.types.items())},
        "passages": {
            "total": found.passages,
            "repeated": found.repeated,
            "stored": found.stored,
            "to_read": found.to_read,
        },
        "extractor": estimate.extractor,
        "model": estimate.model,
        "calls": estimate.usage.calls,
        "tokens_in": estimate.usage.tokens_in,
        "tokens_out": estimate.usage.tokens_out,
        "usd": estimate.usage.usd,
        "seconds": estimate.seconds,
        "upper_bound": estimate.upper_bound,
        "over": list(over),
    }


def _show_files(output: Output, found: "Survey") -> None:
    rows = [
        (suffix or "(none)", f"{one.files:,}", _size(one.bytes), f"{one.unread:,}", f"{one.passages:,}")
        for suffix, one in sorted(found.types.items())
    ]
    rows.append(("all", f"{found.files:,}", _size(found.bytes), f"{found.unread.total():,}", f"{found.passages:,}"))
    output.table(("type", "files", "size", "not read", "passages"), rows, right=(1, 2, 3, 4))
    if found.unread:
        output.line("Not read: " + ", ".join(f"{count:,} {code}" for code, count in sorted(found.unread.items())))


def _show_calls(output: Output, estimate: "Estimate") -> None:
    usage = estimate.usage
    named = f"{estimate.extractor} ({estimate.model})" if estimate.model else estimate.extractor
    if estimate.seconds is None:
        output.line(f"Extractor {named}: calls, price and time are unknown, as it is none of graphmill's own.")
        return
    tokens = f"{usage.tokens_in:,} tokens in and {usage.tokens_out:,} out"
    output.line(f"Extractor {named}: {count_text(usage.calls, 'call')}, about {tokens}")
    if usage.usd is None:
        output.line("Price: unknown; GRAPHMILL_CALLS__USD_PER_MILLION_IN and ..._OUT tell it.")
    else:
        output.line(f"Price: {_money(usage.usd)}")
    output.line(f"Time: about {seconds_text(estimate.seconds)}, {_assumed(estimate)}; finalize comes on top")


def _assumed(estimate: "Estimate") -> str:
    """Say what the time rests on."""
    from pipeline.estimate import CALL_SECONDS, WORDS_PER_SECOND

    parts = []
    if speed := WORDS_PER_SECOND.get(estimate.extractor):
        parts.append(f"at {speed:,.0f} words a second and process")
    if estimate.usage.calls:
        parts.append(f"at {CALL_SECONDS:g} s a call, {estimate.in_flight:,} at once, and the limits a minute")
    return " and ".join(parts) or "as nothing is to be read"


def _size(count: int) -> str:
    """Spell a size: 740 B, 12.3 kB, 4.0 MB."""
    size, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < _KILO:
            break
        size, unit = size / _KILO, larger
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"


def _money(usd: float) -> str:
    return "less than 0.01 USD" if 0 < usd < _CENT else f"{usd:,.2f} USD"
