"""A question is answered although the connection to the graph died while nobody used it."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from proxy import Proxy

from pipeline.adapters.falkor import FalkorReader, FalkorWriter, connect
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.query import Questions
from scheduler.sessions import EvidenceSessions


class Embedder:
    model_id, dimension = "flat", 4

    def embed(self, texts):
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


@pytest.fixture
def proxy(graph_server):
    proxy = Proxy(urlsplit(graph_server.url).port)
    yield proxy
    proxy.close()


@pytest.fixture
def questions(proxy, graph_server, graph_name, redis_client, make_document):
    writer = FalkorWriter(connect(graph_server.url, graph_name))
    writer.prepare(DEFAULT_ONTOLOGY)
    writer.write([make_document("a", ("Ada Quill founded Acme.", [], []))], 1, lambda: None)
    password = urlsplit(graph_server.url).password
    address = f"redis://{f':{password}@' if password else ''}127.0.0.1:{proxy.port}"
    reader = FalkorReader(connect(address, graph_name, timeout=1))
    return Questions(lambda _: reader, Embedder(), EvidenceSessions(redis_client, expiry_seconds=60), None)


@pytest.mark.parametrize("breakage", ["silence", "drop"])
def test_a_connection_that_died_while_idle_costs_no_answer(breakage, proxy, questions, graph_name):
    before = questions.retrieve(graph_name, "s", {"question": "Who founded Acme?"})
    assert getattr(proxy, breakage)() > 0
    assert questions.retrieve(graph_name, "s", {"question": "Who founded Acme?"})["incomplete"] == before["incomplete"]
