"""A language model decides which entities are one: asked once, heard in full, and never beyond its budget."""

import re
import threading

import pytest
from scripted_llm import ScriptedLlm, busy, said

from pipeline.ontology import ontology_of

EXTRACTOR = "judged_models:extract"
MAX_TOKENS = 1_000
BORN = ontology_of({"entity_types": [{"label": "Person", "properties": [{"name": "born", "type": "STRING"}]}]})
PERSONS = "MATCH (e:Person) RETURN e.name, e.born"
SET = re.compile(r"^SET (\d+)\n((?:\d+\. .*\n?)+)", re.MULTILINE)
MEMBER = re.compile(r'^(\d+)\. "(.*?)"', re.MULTILINE)


class Service:
    """The scripted service: what it says of a set depends on the first name that its members have."""

    def __init__(self):
        self.script, self.usage, self.seen = {}, (100, 20), 0

    def answer(self, body):
        lines = []
        for number, text in SET.findall(self.server.requests[-1].prompt):
            members = {name: place for place, name in MEMBER.findall(text)}
            tell = self.script.get(min(members).split()[0], tell_apart)
            lines.append(tell(number, members))
            if not isinstance(lines[-1], str):
                return lines[-1]
        return said("\n".join([*lines, "END"]), usage=self.usage)

    def asked(self):
        """Tell which names the sets of each request since the last time had, by their first names."""
        new = self.server.requests[self.seen :]
        self.seen += len(new)
        return [sorted({name.split()[0] for _, name in MEMBER.findall(one.prompt)}) for one in new]


def tell_apart(number, _):
    return f"SET {number} NONE"


def unite(number, members):
    """All are one, called by the shortest name, born when the one with the longest name was."""
    named = sorted(members, key=len)
    places = ", ".join(sorted(members.values()))
    return f'SET {number} GROUP: {places} | NAME: "{named[0]}" | KEEP: born={members[named[-1]]}'


def mumble(number, _):
    return f"SET {number} GROUP: 1, 99"


def in_turn(*tellers):
    """Say one thing after the other; the last one stays."""
    left = list(tellers)

    def tell(number, members):
        return (left.pop(0) if len(left) > 1 else left[0])(number, members)

    return tell


@pytest.fixture(scope="module")
def service():
    one = Service()
    with ScriptedLlm(one.answer) as one.server:
        yield one


@pytest.fixture(scope="module")
def more_environment(service):
    return {
        "GRAPHMILL_JUDGE": "llm",
        "GRAPHMILL_JUDGE_MAX_TOKENS": str(MAX_TOKENS),
        "GRAPHMILL_LLM__MODEL": "openai/scripted",
        "GRAPHMILL_CALLS__API_BASE": service.server.base_url,
        # The library of models takes its seconds to load before the first call.
        "GRAPHMILL_FINALIZE_SECONDS": "30",
    }


@pytest.fixture(autouse=True)
def _calm(service):
    service.script.clear()
    service.usage = (100, 20)
    service.asked()


class Corpus:
    """Files of persons with surnames of one test alone: the same question has the same answer in any graph.

    With these surnames none that begin with another letter are near each other.
    """

    def __init__(self, system, folder, graph, surname):
        self.system, self.folder, self.graph, self.surname = system, folder, graph, surname
        system.client.set_ontology(graph, BORN, expected="")

    def ingest(self, *persons):
        told = ". ".join(f"{first} {first[0]}{self.surname} (born {year})" for first, year in persons)
        (self.folder / f"{persons[0][0]}.txt").write_text(f"{told}.", "utf-8")
        return self.system.ingest(self.folder, self.graph)

    def persons(self):
        """Give first names with years of birth."""
        return sorted((name.rsplit(maxsplit=1)[0], born) for name, born in self.system.rows(self.graph, PERSONS))


@pytest.fixture
def corpus(request, system, tmp_path, graph_name):
    return Corpus(system, tmp_path, graph_name, request.param)


def finalize(system, graph):
    """Finalize a graph; gives how that ended."""
    number, waiting = system.client.finalize(graph), threading.Event()
    while (status := system.client.finalize_status(graph)).state == "running" or status.number < number:
        system.client.tick()
        waiting.wait(0.05)
    return status


ADAS = (("Ada", "1900"), ("Ada Mary", "1901"))
BRAMS = (("Bram", "1910"), ("Bram Jan", "1911"))
ONE_ADA, ONE_BRAM = ("Ada", "1901"), ("Bram", "1911")


@pytest.mark.parametrize("corpus", ["quill"], indirect=True)
def test_what_the_model_says_reaches_the_graph_and_is_not_asked_again(system, service, corpus, graph_name):
    service.script = {"Ada": unite, "Bram": mumble}
    assert corpus.ingest(*ADAS, *BRAMS).error == ""
    assert service.asked() == [["Ada", "Bram"], ["Bram"], ["Bram"]]
    assert corpus.persons() == [ONE_ADA, *BRAMS]
    (merge,) = system.client.merges(graph_name)
    assert merge.why.judge == "openai/scripted"
    report = system.client.finalize_status(graph_name).report
    assert (report["sets"], report["unanswered"], report["merged"]) == (2, 1, 1)
    assert (report["held"] > 0, report["judge_calls"], report["judge_tokens"]) == (True, 3, 3 * 120)
    # Of what is known nothing is asked, neither beside something new nor after it was taken apart.
    service.script.clear()
    corpus.ingest(("Cass", "1920"), ("Cass Ann", "1921"))
    asked = service.asked()
    assert ["Cass"] in [[name for name in names if name != "Bram"] for names in asked]
    system.client.undo_merge(graph_name, merge.id)
    assert finalize(system, graph_name).error == ""
    assert "Ada" not in {name for names in [*asked, *service.asked()] for name in names}
    assert {name for name, _ in corpus.persons()} >= {"Ada", "Ada Mary"}
    assert system.client.merges(graph_name) == []


@pytest.mark.parametrize("corpus", ["wick"], indirect=True)
def test_a_budget_ends_the_finalize_and_the_next_one_goes_on_where_it_stopped(system, service, corpus, graph_name):
    service.script = {"Ada": unite, "Bram": in_turn(mumble, unite)}
    service.usage = (MAX_TOKENS, 20)
    error = corpus.ingest(*ADAS, *BRAMS).error
    assert f"finalize 1 of graph {graph_name!r} is spent: 1,020 of 1,000 tokens" in error
    assert f"graphmill finalize --graph {graph_name}" in error
    assert service.asked() == [["Ada", "Bram"]]
    assert [name for name, _ in corpus.persons()] == [name for name, _ in (*ADAS, *BRAMS)]
    status = finalize(system, graph_name)
    assert (status.error, status.report["judge_calls"]) == ("", 1)
    assert service.asked() == [["Bram"]]
    assert corpus.persons() == [ONE_ADA, ONE_BRAM]


@pytest.mark.parametrize("corpus", ["holm"], indirect=True)
def test_an_attempt_that_did_not_come_to_its_end_pays_nothing_twice(system, service, corpus, graph_name):
    service.script = {"Ada": unite, "Bram": in_turn(mumble, lambda *_: busy(), unite)}
    assert corpus.ingest(*ADAS, *BRAMS).error == ""
    assert service.asked() == [["Ada", "Bram"], ["Bram"], ["Bram"]]
    assert corpus.persons() == [ONE_ADA, ONE_BRAM]
    report = system.client.finalize_status(graph_name).report
    assert (report["judge_calls"], report["judge_tokens"]) == (3, 2 * 120)
