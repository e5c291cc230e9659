"""Long documents and silent services through real workers: whatever is answered is kept, and nothing waits for ever."""

import os
import signal
from collections import Counter

import pytest
from scripted_llm import ScriptedLlm, extract

pytestmark = pytest.mark.slow

IN_FLIGHT = 8


@pytest.fixture(scope="module")
def server():
    with ScriptedLlm() as one:
        yield one


@pytest.fixture(scope="module")
def more_environment(server):
    return {
        "GRAPHMILL_EXTRACTOR": "llm",
        "GRAPHMILL_LLM__MODEL": "openai/scripted",
        "GRAPHMILL_CALLS__API_BASE": server.base_url,
        "GRAPHMILL_CALLS__IN_FLIGHT": str(IN_FLIGHT),
        "GRAPHMILL_CALLS__TIMEOUT_SECONDS": "2",
        # A turn is half of it, so that a long document takes several.
        "GRAPHMILL_SOFT_TIME_LIMIT": "8",
        "GRAPHMILL_TIME_LIMIT": "60",
    }


def write(folder, graph, passages):
    text = "".join(f"# part {graph}\n\nAda Quill founded Press Number {n}.\n\n" for n in range(passages))
    (folder / "long.md").write_text(text, "utf-8")


def asked_since(server, seen):
    return Counter(one.passage for one in server.requests[seen:])


def test_a_document_of_several_turns_is_paid_for_once(system, server, tmp_path, graph_name):
    server.answer = lambda body: extract(body).slow(0.3)
    seen = len(server.requests)
    write(tmp_path, graph_name, 400)
    status = system.ingest(tmp_path, graph_name, finalize="never")
    (report,) = system.client.files(status.run)
    assert (report.state, report.code) == ("written", "ok")
    assert report.details["defers"] >= 2, "it took several turns"
    assert status.usage.calls == status.passages_read == 400
    assert set(asked_since(server, seen).values()) == {1}


def test_workers_killed_in_the_middle_of_a_long_document_lose_only_what_is_under_way(
    system, server, tmp_path, graph_name
):
    server.answer = lambda body: extract(body).slow(0.2)
    seen = len(server.requests)
    write(tmp_path, graph_name, 200)
    run = system.client.submit([tmp_path], tmp_path, graph=graph_name, finalize="never")
    while len(server.requests) < seen + 100:
        system.client.tick()
    for worker in system.client.workers():
        os.killpg(worker.pid, signal.SIGKILL)
    system.start_worker()
    status = system.finish(run, seconds=120)
    asked = asked_since(server, seen)
    assert status.counts["written"] == 1
    assert len(asked) == 200
    assert sum(asked.values()) <= 200 + IN_FLIGHT
    # Some had leave, and were not sent yet: nobody knows, so the budget counts them.
    assert 0 <= status.usage.calls - sum(asked.values()) <= IN_FLIGHT


def test_passages_that_are_never_answered_are_given_up_though_their_files_wait_for_other_things(
    system, server, tmp_path, graph_name
):
    server.answer = lambda body: extract(body).slow(20 if "Silent" in str(body) else 0)
    seen = len(server.requests)
    for name in ("Ada Quill", "Silent One", "Silent Two", "Silent Three"):
        (tmp_path / f"{name}.md").write_text(f"{name} founded Northlight Press. {graph_name}", "utf-8")
    status = system.ingest(tmp_path, graph_name, finalize="never")
    codes = {name[:-3]: code for name, (_, code) in system.outcomes(status.run).items()}
    assert codes == {"Ada Quill": "ok", "Silent One": "partial", "Silent Two": "partial", "Silent Three": "partial"}
    assert max(asked_since(server, seen).values()) == 3
