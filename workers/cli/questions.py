"""`graphmill ask` and `graphmill check`: evidence for a question, and whether an answer keeps to it."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, one_line

if TYPE_CHECKING:
    from workers.settings import Settings

LAST_SESSION = "last_session"
_LONGEST_EVIDENCE = 500
"""Characters of an item that are shown; --json gives all."""
_LONGEST_SOURCE = 200
_KINDS = ("passage", "fact", "entity")
_SHOWN_OF_OTHERS = 3
"""Facts and entities that are shown; they are parts of passages."""


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in quotes.")],
    graph: GraphOption = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="How many passages to bring.")] = 5,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Go on in this conversation: its evidence keeps its numbers."),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Find numbered evidence for a question.

    First come the sentences of the evidence that answer best, then the evidence with its sources.
    """
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = system.client.retrieve(question, graph=settings.graph, k=k, session=session)
    remembered = _remember(settings, reply["session"])
    if as_json:
        output.document(reply)
        return ExitCode.OK
    _show_reply(output, reply)
    which = "" if remembered else f" --session {reply['session']}"
    output.line()
    output.line(f'Check an answer of your own: graphmill check "... [1]"{which}{data_dir_flag(data_dir)}', "dim")
    return ExitCode.OK


def check(
    draft: Annotated[str, typer.Argument(metavar="ANSWER", help="An answer with its citations, as in [1] or [2, 3].")],
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Conversation whose numbers it cites. Default: the last `ask`."),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Check the citations of an answer.

    Exit status 0: it is grounded in the evidence of the conversation; 1: it is not.
    """
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    output = Output(as_json=as_json)
    settings = read_settings(data_dir=data_dir)
    known = session or _recall(settings)
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = system.client.check_citations(draft, session=known)
    if as_json:
        output.document({**reply, "session": known})
    else:
        _show_check(output, reply)
    return ExitCode.OK if reply["grounded"] else ExitCode.FAILED


def _show_reply(output: Output, reply: dict[str, Any]) -> None:
    for reason in reply["incomplete"]:
        output.line(f"Incomplete: {one_line(reason)}", "yellow")
    for one in reply["answer"]:
        output.paragraph(f"{one_line(one['sentence'])} [{one['n']}]", indent=0)
    if reply["answer"]:
        output.line()
    if not reply["evidence"]:
        output.line("The graph holds no evidence for this question.")
    shown = [item for kind in _KINDS for item in _of_kind(reply["evidence"], kind)]
    for item in shown:
        output.line(f"[{item['n']}] {item['kind']}  {_where(item)}".rstrip(), "bold")
        output.paragraph(_cut(item["text"], _LONGEST_EVIDENCE))
    if more := len(reply["evidence"]) - len(shown):
        output.line(f"{more} more facts and entities: --json lists them.", "dim")


def _of_kind(evidence: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    found = [item for item in evidence if item["kind"] == kind]
    return found if kind == "passage" else found[:_SHOWN_OF_OTHERS]


def _where(item: dict[str, Any]) -> str:
    page = f"page {item['page']}" if item["page"] else ""
    return one_line(", ".join(part for part in (item["source"], page, item["heading"]) if part))


def _cut(text: str, longest: int) -> str:
    whole = one_line(text)
    return whole if len(whole) <= longest else f"{whole[:longest].rstrip()} ..."


def _show_check(output: Output, reply: dict[str, Any]) -> None:
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
        output.paragraph(f"[{source['n']}] {_cut(source['text'], _LONGEST_SOURCE)}")


def _remember(settings: "Settings", session: str) -> bool:
    """Note the session for the next `check`; False where the data folder cannot hold it."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        _note_file(settings).write_text(f"{session}\n", encoding="utf-8")
    except OSError:
        return False
    return True


def _recall(settings: "Settings") -> str:
    try:
        return _note_file(settings).read_text(encoding="utf-8").strip()
    except OSError:
        raise UsageMistake(
            f"No question was asked from {shlex.quote(str(settings.data_dir))} yet: name a conversation with --session."
        ) from None


def _note_file(settings: "Settings") -> Path:
    return settings.data_dir / LAST_SESSION
