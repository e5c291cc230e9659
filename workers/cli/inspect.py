"""`graphmill fingerprint` and `verify`: a graph as one hash, and whether all of it agrees. Both only read."""

from typing import TYPE_CHECKING

from pipeline.findings import FaultCode
from workers.cli.exits import ExitCode
from workers.cli.options import DataDirOption, GraphOption, JsonOption, read_settings
from workers.cli.output import Output, as_row, count_text, one_line

if TYPE_CHECKING:
    from scheduler.verify import Verdict

MEANINGS = {
    FaultCode.DOCUMENT_LOST: "files that count as in the graph, whose document is not there, or only half",
    FaultCode.DOCUMENT_UNSTAMPED: "documents that are half written, and nothing is at work on them",
    FaultCode.CHUNK_WITHOUT_DOCUMENT: "passages that belong to no document",
    FaultCode.ENTITY_WITHOUT_MENTION: "entities that no passage mentions",
    FaultCode.RELATION_WITHOUT_SUPPORT: "relations that no passage states",
    FaultCode.SUPPORT_WITHOUT_RELATION: "statements of passages that no relation shows",
    FaultCode.SOURCE_CHUNKS_DIFFER: "relations whose source_chunk_ids are not the passages that state them",
    FaultCode.DUPLICATE_NODE: "nodes whose id another node of the label has too",
    FaultCode.DUPLICATE_RELATION: "relations that are there twice",
    FaultCode.MERGED_CYCLE: "merged ids that lead back to themselves",
    FaultCode.MERGED_ID_LIVES: "entities that live on although they were merged away",
    FaultCode.VECTOR_MISSING: "finalized elements without a vector: they are not found by meaning",
    FaultCode.PENDING_LEFT: "elements that wait for a finalize: graphmill finalize",
    FaultCode.INDEX_NOT_READY: "indexes that are missing, failed, or still being built",
    FaultCode.CONSTRAINT_NOT_READY: "constraints that are missing, failed, or still being built",
    FaultCode.FENCE_MISSING: "there must be one fence: without it nothing can be written",
    FaultCode.RUN_COUNTS_DIFFER: "runs whose counts are not those of their files",
}


def fingerprint(graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Hash all that a graph says, to compare it with another.

    Equal files, ingested with equal settings and finalized at the same points, give equal hashes, in whatever order and
    by however many workers. Times, run ids and vectors are left out; the hash of the text that a vector was made of
    stands for it.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        found = system.client.fingerprint(settings.graph)
    if found.pending:
        output.note(
            f"{found.pending:,} elements are not finalized yet: equal files may still give another fingerprint."
        )
    if as_json:
        output.document(as_row(found))
        return ExitCode.OK
    output.table(
        ("kind", "elements", "hash"), [(one.kind, f"{one.count:,}", one.hash) for one in found.kinds], right=(1,)
    )
    output.line(f"Graph {found.graph}: {found.hash}", "bold")
    return ExitCode.OK


def verify(graph: GraphOption = None, data_dir: DataDirOption = None, as_json: JsonOption = False) -> ExitCode:
    """Compare the ledger with a graph, and the graph with itself.

    Exit status 0: nothing is wrong; 1: what is wrong is listed, with a few examples of each. Nothing is changed.
    """
    from workers.running import open_system

    output = Output(as_json=as_json)
    settings = read_settings(graph=graph, data_dir=data_dir)
    with open_system(settings, output.note) as system:
        verdict = system.client.verify(settings.graph)
    if verdict.at_work:
        output.note("Runs, or a finalize, go on in this graph: verify again when they have ended.")
    if as_json:
        output.document({**as_row(verdict), "clean": not verdict.findings})
    else:
        _show_verdict(output, verdict)
    return ExitCode.FAILED if verdict.findings else ExitCode.OK


def _show_verdict(output: Output, verdict: "Verdict") -> None:
    if not verdict.findings:
        output.line(
            f"Graph {verdict.graph} and its {count_text(verdict.runs, 'run')} agree: nothing is wrong.", "green"
        )
        return
    output.line(f"Graph {verdict.graph}: {len(verdict.findings)} findings.", "bold")
    for finding in verdict.findings:
        output.line(f"{finding.code} ({finding.count:,}): {MEANINGS[finding.code]}", "red")
        for example in finding.examples:
            output.paragraph(one_line(example))
        if finding.count > len(finding.examples):
            output.paragraph("...")
