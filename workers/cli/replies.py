"""How replies to questions are shown; and which conversation the data folder remembers."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workers.cli.exits import UsageMistake
from workers.cli.output import Output, one_line

if TYPE_CHECKING:
    from workers.settings import Settings

LAST_SESSION = "last_session"
_LONGEST_EVIDENCE = 500
"""Characters of an item that are shown; --json gives all."""
_LONGEST_SOURCE = 200
_SHOWN_OF = {"row": 25, "passage": 100, "fact": 3, "relation": 3, "entity": 3}
"""Items of each kind that are shown, in this order: facts, relations and entities are parts of passages."""
_ABSTAINED = {
    "no_evidence": "The graph holds too little on this: no model was asked for an answer.",
    "insufficient": "The model says that the evidence does not answer this.",
    "ungrounded": "What the model said is not grounded in the evidence, so it is withheld.",
}


def show_evidence(output: Output, reply: dict[str, Any]) -> None:
    """Show what was found: sentences that answer, then items with their places."""
    _show_gaps(output, reply)
    for one in reply["answer"]:
        output.paragraph(f"{one_line(one['sentence'])} [{one['n']}]", indent=0)
    if reply["answer"]:
        output.line()
    if not reply["evidence"]:
        output.line("The graph holds no evidence for this question.")
    shown = [item for kind, most in _SHOWN_OF.items() for item in _of_kind(reply["evidence"], kind)[:most]]
    for item in shown:
        output.line(f"[{item['n']}] {item['kind']}  {_where(item)}".rstrip(), "bold")
        output.paragraph(_cut(item["text"], _LONGEST_EVIDENCE))
    if more := len(reply["evidence"]) - len(shown):
        output.line(f"{more} more items: --json lists them.", "dim")


def show_answer(output: Output, reply: dict[str, Any]) -> None:
    """Show an answer with the evidence that it cites, or why there is none."""
    _show_gaps(output, reply)
    output.paragraph(reply["answer"], indent=0)
    if reply["abstained"]:
        output.line(_ABSTAINED.get(reply["abstained"], reply["abstained"]), "yellow")
        return
    output.line()
    show_check(output, reply["check"])
    used = reply["usage"]
    output.line(f"{reply['model']}: {used['tokens_in'] + used['tokens_out']:,} tokens", "dim")


def show_check(output: Output, reply: dict[str, Any]) -> None:
    """Show whether a draft keeps to the evidence, and where it does not."""
    if reply["grounded"]:
        output.line("grounded: yes", "green")
    else:
        output.line("grounded: no", "red")
        if not reply["cited"] and not reply["invalid"]:
            output.line("It cites nothing.")
    if reply["invalid"]:
        output.line(f"numbers that point at nothing: {', '.join(map(str, reply['invalid']))}")
    for sentence in reply["uncited"]:
        output.line(f"not cited: {one_line(sentence)}", "yellow")
    for one in reply["unsupported"]:
        missing = ", ".join(one["missing"])
        output.line(f"not in the cited evidence: {one_line(missing)}  (in: {one_line(one['sentence'])})", "yellow")
    for source in reply["sources"]:
        output.line(f"[{source['n']}] {_where(source)}".rstrip(), "bold")
        output.paragraph(_cut(source["text"], _LONGEST_SOURCE))


def show_passages(output: Output, reply: dict[str, Any]) -> None:
    """Show passages in full, each with its number, place and whether it still stands so in its document."""
    for item in reply["passages"]:
        status = "" if item["status"] == "current" else f"  ({item['status']})"
        here = "  <" if item.get("here") else ""
        output.line(f"[{item['n']}] {_where(item)}{status}{here}", "bold")
        if item["text"]:
            output.paragraph(item["text"])
        else:
            output.line("    Its document was deleted, or does not hold it any more.", "yellow")
        first, last = item["shown"]
        if last - first < item["chars"]:
            output.line(f"    characters {first}-{last} of {item['chars']:,}", "dim")
    if reply.get("invalid"):
        numbers = ", ".join(map(str, reply["invalid"]))
        output.line(f"numbers that point at nothing in this conversation: {numbers}", "yellow")


def remember_session(settings: "Settings", reply: dict[str, Any]) -> bool:
    """Note a reply's conversation and graph for the next command; False where the data folder cannot hold it."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        _note_file(settings).write_text(f"{reply['session']}\n{reply['graph']}\n", encoding="utf-8")
    except OSError:
        return False
    return True


def recall_session(settings: "Settings") -> tuple[str, str]:
    """Give the conversation of the last question, and its graph; raises `UsageMistake` where there was none."""
    try:
        session, *graph = _note_file(settings).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise UsageMistake(
            f"No question was asked from {shlex.quote(str(settings.data_dir))} yet: name a conversation with --session."
        ) from None
    return session, graph[0] if graph else settings.graph


def _show_gaps(output: Output, reply: dict[str, Any]) -> None:
    for reason in reply["incomplete"]:
        output.line(f"Incomplete: {one_line(reason)}", "yellow")


def _of_kind(evidence: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in evidence if item["kind"] == kind]


def _where(item: dict[str, Any]) -> str:
    page = f"page {item['page']}" if item["page"] else ""
    return one_line(", ".join(part for part in (item["source"], page, item.get("heading", "")) if part))


def _cut(text: str, longest: int) -> str:
    whole = one_line(text)
    return whole if len(whole) <= longest else f"{whole[:longest].rstrip()} ..."


def _note_file(settings: "Settings") -> Path:
    return settings.data_dir / LAST_SESSION
