"""The limits of a service, kept over several real workers as the service itself sees them."""

import bisect
import json

import pytest
from scripted_llm import ScriptedLlm, found_in, passage_of, said

pytestmark = pytest.mark.slow

REQUESTS, TOKENS = 30, 60_000
MINUTE = 60.0


@pytest.fixture(scope="module")
def server():
    with ScriptedLlm(latency=0.2) as one:
        yield one


@pytest.fixture(scope="module")
def more_environment(server):
    return {
        "GRAPHMILL_EXTRACTOR": "llm",
        "GRAPHMILL_LLM__MODEL": "openai/scripted",
        "GRAPHMILL_LLM__MAX_OUTPUT_TOKENS": "256",
        "GRAPHMILL_CALLS__API_BASE": server.base_url,
        "GRAPHMILL_CALLS__REQUESTS_PER_MINUTE": str(REQUESTS),
        "GRAPHMILL_CALLS__TOKENS_PER_MINUTE": str(TOKENS),
    }


@pytest.fixture(scope="module")
def workers(system):
    """Three worker processes with two pools each, so that six tasks ask at once."""
    for _ in range(2):
        system.start_worker()
    while len(system.client.workers()) < 3:
        system.client.tick()
    return system


def most_in_a_minute(arrivals, weight=1):
    """Tell how much came in the worst minute."""
    return max(weight * (bisect.bisect_left(arrivals, came + MINUTE) - n) for n, came in enumerate(arrivals))


@pytest.mark.parametrize(("tokens", "passages", "limit"), [(120, 45, REQUESTS), (4_000, 25, TOKENS)])
def test_the_service_sees_no_more_in_any_minute_than_it_allows(
    workers, server, tmp_path, graph_name, tokens, passages, limit
):
    answer_in = int(tokens * 0.9)

    def answer(body):
        return said(json.dumps(found_in(passage_of(body), body)), usage=(answer_in, tokens - answer_in))

    server.answer = answer
    seen = len(server.requests)
    for number in range(passages):
        (tmp_path / f"{number:02}.md").write_text(f"Ada Quill founded Northlight Press. {number} {graph_name}", "utf-8")
    run = workers.client.submit([tmp_path], tmp_path, graph=graph_name, finalize="never")
    status = workers.finish(run, seconds=240)
    asked = server.requests[seen:]
    assert status.counts["written"] == len({one.passage for one in asked}) == len(asked) == passages
    assert (status.usage.calls, status.usage.tokens_in + status.usage.tokens_out) == (passages, passages * tokens)
    weight = 1 if limit == REQUESTS else tokens
    assert most_in_a_minute([one.arrived for one in asked], weight) <= limit
    # It is no use to ask for far less than allowed.
    assert most_in_a_minute([one.arrived for one in asked], weight) >= 0.5 * limit
