"""Passages read by a language model, through real workers and a scripted service: paid once, and told of truly."""

import os
import signal
import threading
from collections import Counter

import pytest
from scripted_llm import ScriptedLlm, busy, extract, said, wrong_key

from scheduler.records import Budget
from scheduler.states import RunState

MENTIONS = "MATCH (e:__Entity__)-[:MENTIONED_IN]->(c:Chunk) RETURN e.name, c.text"
ADA, BRAM = "Ada Quill founded Northlight Press.", "Bram Oster met Cass Verity."
CASS = "Cass Verity sold Lighthouse to Dora Finch."


class Service:
    """The scripted service, whose answers a test may change for passages that hold a word."""

    def __init__(self):
        self.script, self.answered, self.seen = {}, Counter(), 0

    def answer(self, body):
        passage = self.server.requests[-1].passage
        for word, fate in self.script.items():
            if word in passage:
                reply = fate(body) if callable(fate) else fate
                break
        else:
            reply = extract(body)
        if reply.status == 200 and reply.manner == "whole":
            self.answered[passage] += 1
        return reply

    def asked(self):
        """Tell which passages were asked for since this was last asked, by their last line."""
        new = self.server.requests[self.seen :]
        self.seen += len(new)
        return sorted(one.passage.strip().splitlines()[-1] for one in new)


@pytest.fixture(scope="module")
def service():
    one = Service()
    with ScriptedLlm(one.answer) as one.server:
        yield one


@pytest.fixture(autouse=True)
def _calm(service, system):
    """Each test begins with a service that answers, and nothing known of it."""
    service.script.clear()
    service.asked()


@pytest.fixture(scope="module")
def more_environment(service):
    return {
        "GRAPHMILL_EXTRACTOR": "llm",
        "GRAPHMILL_LLM__MODEL": "openai/scripted",
        "GRAPHMILL_CALLS__API_BASE": service.server.base_url,
        "GRAPHMILL_CALLS__IN_FLIGHT": "4",
        "GRAPHMILL_CALLS__TIMEOUT_SECONDS": "5",
        "GRAPHMILL_CALLS__USD_PER_MILLION_IN": "10",
        "GRAPHMILL_CALLS__USD_PER_MILLION_OUT": "100",
    }


@pytest.fixture
def file(tmp_path, graph_name):
    """A file of sections, each of which is a passage; no other test has the like."""

    def write(*sections, name="story.md"):
        path = tmp_path / name
        path.write_text("".join(f"# part {graph_name}\n\n{text}\n\n" for text in sections), "utf-8")
        return path

    return write


def wait_for(system, run, state, seconds=60):
    """Drive a run until it is in a state."""
    system_over = threading.Event()
    for _ in range(int(seconds / 0.1)):
        status = system.client.status(run)
        if status.state is state:
            return status
        system.client.tick()
        system_over.wait(0.1)
    raise AssertionError(f"{status}\n{system.log.read_text('utf-8', 'replace')[-3000:]}")


def test_a_document_is_asked_for_passage_by_passage_and_its_cost_is_on_record(
    system, service, file, tmp_path, graph_name
):
    file(ADA, BRAM)
    status = system.ingest(tmp_path, graph_name)
    assert service.asked() == [ADA, BRAM]
    assert {name for name, _ in system.rows(graph_name, MENTIONS)} >= {"Ada Quill", "Northlight Press", "Bram Oster"}
    assert (status.usage.calls, status.usage.tokens_in, status.usage.tokens_out) == (2, 200, 40)
    assert status.usage.usd == pytest.approx(2 * (100 * 10 + 20 * 100) / 1e6)
    (report,) = system.client.files(status.run)
    assert report.details["spent"]["calls"] == 2
    assert report.details["cached"] == 0


def test_what_did_not_change_is_never_asked_for_again(system, service, file, tmp_path, graph_name):
    file(ADA, BRAM)
    system.ingest(tmp_path, graph_name)
    service.asked()
    system.ingest(tmp_path, graph_name)
    assert service.asked() == []
    file(ADA, CASS)
    status = system.ingest(tmp_path, graph_name)
    assert service.asked() == [CASS]
    assert (status.passages_read, status.passages_cached) == (1, 1)


def test_a_passage_that_cannot_be_read_makes_its_document_partial_and_retry_asks_for_it_alone(
    system, service, file, tmp_path, graph_name
):
    file(ADA, BRAM)
    service.script["Bram"] = said("I would rather talk about the weather.")
    status = system.ingest(tmp_path, graph_name)
    assert system.outcomes(status.run) == {"story.md": ("written", "partial")}
    (report,) = system.client.files(status.run)
    assert report.details["unread"] == {"malformed_answer": 1}
    assert {name for name, _ in system.rows(graph_name, MENTIONS)} == {"Ada Quill", "Northlight Press"}
    service.script.clear()
    service.asked()
    assert system.client.verbs.retry(status.run) == 1
    assert system.outcomes(system.finish(status.run).run) == {"story.md": ("updated", "ok")}
    assert service.asked() == [BRAM]
    assert "Bram Oster" in {name for name, _ in system.rows(graph_name, MENTIONS)}
    assert system.client.verbs.retry(status.run) == 0


def test_a_later_ingest_asks_again_for_what_could_not_be_read(system, service, file, tmp_path, graph_name):
    file(ADA, BRAM)
    service.script["Bram"] = said("", finish="content_filter")
    system.ingest(tmp_path, graph_name)
    again = system.ingest(tmp_path, graph_name)
    assert system.outcomes(again.run) == {"story.md": ("unchanged", "partial")}
    service.script.clear()
    service.asked()
    assert system.outcomes(system.ingest(tmp_path, graph_name).run) == {"story.md": ("updated", "ok")}
    assert service.asked() == [BRAM]


def test_a_wrong_key_pauses_the_run_after_one_call_and_a_right_one_lets_it_go_on(
    system, service, file, tmp_path, graph_name
):
    for name in "abcdef":
        file(f"{ADA} {name}", f"{BRAM} {name}", name=f"{name}.md")
    service.script["part"] = service.script["."] = wrong_key()
    run = system.client.submit([tmp_path], tmp_path, graph=graph_name)
    status = wait_for(system, run, RunState.PAUSED)
    assert len(service.asked()) <= 4
    assert "key" in status.reason.lower()
    assert status.failed == 0
    service.script.clear()
    system.client.resume(run)
    done = system.finish(run)
    assert done.counts["written"] == 6


def test_a_budget_pauses_the_run_and_a_larger_one_lets_it_go_on(system, service, file, tmp_path, graph_name):
    for name in "abcdef":
        file(f"{ADA} {name}", name=f"{name}.md")
    run = system.client.submit([tmp_path], tmp_path, graph=graph_name, budget=Budget(tokens=250))
    status = wait_for(system, run, RunState.PAUSED)
    spent = status.usage.tokens_in + status.usage.tokens_out
    assert 250 <= spent <= 250 + 120, "one call of 120 tokens more at most"
    assert f"graphmill resume {run} --max-tokens" in status.reason
    system.client.resume(run, budget=Budget(tokens=100_000))
    assert system.finish(run).counts["written"] == 6
    assert max(service.answered[one.passage] for one in service.server.requests[-6:]) == 1


def test_a_service_that_asks_for_patience_gets_it_and_no_document_fails(system, service, file, tmp_path, graph_name):
    refusals = iter([busy("1"), busy("1")])
    service.script["Ada"] = lambda body: next(refusals, None) or extract(body)
    file(ADA, BRAM)
    status = system.ingest(tmp_path, graph_name)
    assert system.outcomes(status.run) == {"story.md": ("written", "ok")}
    asked = Counter(service.asked())
    assert asked[BRAM] == 1
    assert asked[ADA] <= 3


def test_no_answer_is_asked_for_twice_when_the_workers_are_killed_in_the_middle(
    system, service, file, tmp_path, graph_name
):
    half = threading.Event()
    total = 40

    def answer(body):
        if sum(graph_name in one.passage for one in service.server.requests) >= total // 2:
            half.set()
        return extract(body).slow(0.05)

    service.script["part"] = answer
    for n in range(total):
        file(f"{ADA} Number {n}.", name=f"{n:02}.md")
    run = system.client.submit([tmp_path], tmp_path, graph=graph_name)
    while not half.wait(0.05):
        system.client.tick()
    for one in system.client.workers():
        os.kill(one.pid, signal.SIGKILL)
    service.script.clear()
    system.start_worker()
    assert system.finish(run, seconds=60).counts["written"] == total
    asked = Counter(one.passage for one in service.server.requests if graph_name in one.passage)
    assert len(asked) == total
    # Those under way at the kill: nobody had their answers.
    assert len([passage for passage, times in asked.items() if times > 1]) <= 4
    assert max(asked.values()) <= 2
