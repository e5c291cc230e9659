import pytest

from pipeline.llm import questions, schema
from pipeline.llm.wording import fingerprint_wording


def test_it_stays_as_long_as_the_wording_does():
    assert fingerprint_wording() == fingerprint_wording()


@pytest.mark.parametrize("rule", ["_OPEN_RULE", "_DECLARED_RULE", "_OTHER_RULE", "_ATTRIBUTE_RULE"])
def test_it_changes_with_a_rule(monkeypatch, rule):
    before = fingerprint_wording()
    monkeypatch.setattr(questions, rule, "another rule")
    assert fingerprint_wording() != before


@pytest.mark.parametrize("name", ["extract-v1", "find-v1", "relate-v1", "passage-v1", "found-v1"])
def test_it_changes_with_a_template(monkeypatch, name):
    before, read = fingerprint_wording(), questions._template

    def reword(asked):
        template = read(asked)
        return type(template)(f"{template.template} Please.") if asked == name else template

    monkeypatch.setattr(questions, "_template", reword)
    assert fingerprint_wording() != before


def test_it_changes_with_the_shape_of_an_answer(monkeypatch):
    before = fingerprint_wording()
    monkeypatch.setattr(schema, "_SUGGESTED", {})
    assert fingerprint_wording() != before


def test_it_changes_with_what_counts_as_a_forged_tag(monkeypatch):
    before = fingerprint_wording()
    monkeypatch.setattr(questions, "neutralise", str)
    assert fingerprint_wording() != before
