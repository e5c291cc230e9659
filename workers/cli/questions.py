"""`graphmill ask`, `answer`, `result`, `check` and `evidence`: what the graph says, and whether a text keeps to it."""

import secrets
from typing import Annotated, Any

import typer

from workers.cli.exits import ExitCode, UsageMistake
from workers.cli.options import DataDirOption, GraphOption, JsonOption, data_dir_flag, read_settings
from workers.cli.output import Output, one_line
from workers.cli.replies import (
    recall_session,
    remember_session,
    show_answer,
    show_check,
    show_evidence,
    show_passages,
)
from workers.cli.scoping import read_scope

SessionOption = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Go on in this conversation: its evidence keeps its numbers."),
]
PassagesOption = Annotated[int, typer.Option("-k", min=1, max=100, help="How many passages to bring.")]
PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        help="Search this way only: facts, exact_names, fuzzy_names, links, passages, cypher (a query that the "
        "language model writes). May be repeated. Default: all but cypher.",
    ),
]
HopsOption = Annotated[int, typer.Option("--hops", min=1, max=5, help="How far relations are followed.")]
DocumentOption = Annotated[
    list[str] | None,
    typer.Option("--document", metavar="ID", help="Only this document, by id or path. May be repeated."),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only documents for which it holds, as path^=handbook/ or 'page_count>=10'. May be repeated.",
    ),
]


def ask(  # noqa: PLR0913, PLR0917 - each is an option
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in quotes.")],
    graph: GraphOption = None,
    k: PassagesOption = 5,
    paths: PathOption = None,
    hops: HopsOption = 1,
    document: DocumentOption = None,
    where: WhereOption = None,
    rerank: Annotated[
        str, typer.Option("--rerank", metavar="fused|cosine", help="Order passages by all paths, or by cosine alone.")
    ] = "fused",
    text: Annotated[bool, typer.Option("--text", help="Print the evidence as one text for a language model.")] = False,
    submit: Annotated[
        bool, typer.Option("--submit", help="Print the job's id at once; `graphmill result ID` fetches the reply.")
    ] = False,
    session: SessionOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Find numbered evidence for a question.

    First come the sentences of the evidence that answer best, then the evidence with its sources.
    """
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    if text and submit:
        raise UsageMistake("Choose one of --text and --submit.")
    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    options = {**_search_options(k, paths, hops, document, where), "rerank": rerank, "sentences": not text}
    known = session or secrets.token_hex(8)
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        if submit:
            job = system.client.submit_retrieval(question, graph=settings.graph, session=known, **options)
            _show_job(output, job, flags)
            return ExitCode.OK
        reply = system.client.retrieve(question, graph=settings.graph, session=known, **options)
    remembered = remember_session(settings, reply)
    if as_json:
        output.document(reply)
    elif text:
        for line in reply["text"].split("\n"):
            output.line(line)
    else:
        show_evidence(output, reply)
        _suggest(output, reply["evidence"], "" if remembered else f" --session {known}", flags)
    return ExitCode.OK


def answer(  # noqa: PLR0913, PLR0917 - each is an option
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in quotes.")],
    graph: GraphOption = None,
    k: PassagesOption = 15,
    paths: PathOption = None,
    hops: HopsOption = 1,
    document: DocumentOption = None,
    where: WhereOption = None,
    session: SessionOption = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Let the language model answer a question from numbered evidence, and check what it says.

    Exit status 0: the answer cites its evidence (what that lacks is listed below it); 1: there is too little evidence,
    or what the model said was withheld.
    """
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    output = Output(as_json=as_json)
    settings, flags = read_settings(graph=graph, data_dir=data_dir), data_dir_flag(data_dir)
    options = _search_options(k, paths, hops, document, where)
    known = session or secrets.token_hex(8)
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = system.client.answer(question, graph=settings.graph, session=known, return_context=as_json, **options)
    remembered = remember_session(settings, reply)
    if as_json:
        output.document(reply)
    else:
        show_answer(output, reply)
        which = "" if remembered else f" --session {known}"
        _suggest(output, reply["check"]["sources"], which, flags)
    return ExitCode.FAILED if reply["abstained"] else ExitCode.OK


def result(
    job: Annotated[str, typer.Argument(metavar="ID", help="What `graphmill ask --submit` printed.")],
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0.0, help="Seconds to wait for it. Default: until it expires.")
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Wait for the reply to a question that was submitted, and show it."""
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    output = Output(as_json=as_json)
    settings = read_settings(data_dir=data_dir)
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = system.client.result(job, timeout)
    if "graph" in reply:
        remember_session(settings, reply)
    # A program may have handed in another kind of job.
    if as_json or "evidence" not in reply:
        output.document(reply)
    else:
        show_evidence(output, reply)
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
    known = session or recall_session(settings)[0]
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = system.client.check_citations(draft, session=known)
    if as_json:
        output.document({**reply, "session": known})
    else:
        show_check(output, reply)
    return ExitCode.OK if reply["grounded"] else ExitCode.FAILED


def evidence(
    numbers: Annotated[list[int], typer.Argument(metavar="NUMBER...", help="Evidence numbers of the conversation.")],
    around: Annotated[
        int,
        typer.Option("--around", min=0, max=5, help="Show so many passages before and after it, too, and its section."),
    ] = 0,
    graph: GraphOption = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Conversation of the numbers. Default: the last `ask`."),
    ] = None,
    data_dir: DataDirOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show the exact text of evidence as it is stored, its place, and whether it has been superseded."""
    from workers.running import QUERY_QUEUES, QUERY_ROLES, open_system

    if around and len(numbers) > 1:
        raise UsageMistake("--around takes one number.")
    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    known, of = (session, settings.graph) if session else recall_session(settings)
    of = graph or of
    with open_system(settings, output.note, roles=QUERY_ROLES, queues=QUERY_QUEUES) as system:
        reply = (
            system.client.navigate(numbers[0], graph=of, session=known, reach=around)
            if around
            else system.client.fetch(numbers, graph=of, session=known)
        )
    if as_json:
        output.document(reply)
    else:
        show_passages(output, reply)
    return ExitCode.FAILED if reply.get("invalid") or not reply["passages"] else ExitCode.OK


def _search_options(
    k: int, paths: list[str] | None, hops: int, document: list[str] | None, where: list[str] | None
) -> dict[str, Any]:
    options: dict[str, Any] = {"passages": k, "expand_hops": hops}
    if paths:
        options["paths"] = paths
    if document or where:
        options["scope"] = read_scope(document or (), where or ())
    return options


def _suggest(output: Output, items: list[dict[str, Any]], session: str, flags: str) -> None:
    if items:
        first = items[0]["n"]
        output.line()
        output.line(f'Check an answer of your own: graphmill check "... [{first}]"{session}{flags}', "dim")
        output.line(f"Read a passage whole: graphmill evidence {first}{session}{flags}", "dim")


def _show_job(output: Output, job: str, flags: str) -> None:
    if output.as_json:
        output.document({"job": job})
        return
    output.line(job)
    output.note(f"To see the reply: graphmill result {one_line(job)}{flags}")
