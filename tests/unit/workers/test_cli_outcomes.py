"""What is shown of a finalize: phases in order, no zeros, human words, names of what a person may look into."""

import pytest

from scheduler.plan_report import HeldGroup, OpenPair, PlanReport, ValueClash
from scheduler.records import FinalizeStatus
from workers.cli.outcomes import SHOWN, describe_open, list_phases, show_outcome, show_undecided
from workers.cli.output import Output, as_row
from workers.cli.reports import _finalize_text
from workers.merging import Merging
from workers.settings import Settings

PLACE = " --graph kb --data-dir d"
MORE = f"graphmill finalize --watch --all{PLACE}"
CLASH = ValueClash("acme__org", "Acme", "founded", "acme__org", 1990, "acme ltd__org", "19\x1b91")


def held(count: int) -> PlanReport:
    return PlanReport(tuple(HeldGroup((f"a{n}", f"b{n}"), (f"Ann {n}", "")) for n in range(count)))


def show(capsys, report, plan, *, everything=False) -> str:
    show_outcome(Output(as_json=False), report, plan, PLACE, everything=everything)
    return capsys.readouterr().out


def test_counts_are_grouped_by_phase_in_order_and_zeros_are_left_out() -> None:
    report = {
        "index_ms": 1200, "merged": 1, "judge_tokens": 1234, "held": 0, "sets": 2, "judge_ms": 61000, "names_ms": 20,
    }  # fmt: skip
    assert list_phases(report) == [
        ("judge", "1:01", "2 sets of like names judged, 1,234 tokens"),
        ("merge", "", "1 entity merged into another"),
        ("index", "1.2 s", ""),
    ]


def test_a_count_without_words_of_its_own_is_shown_by_its_name() -> None:
    assert list_phases({"bad_vectors": 3, "files_lost": 1}) == [
        ("plan", "", "1 file sent round again"),
        ("", "", "3 bad vectors"),
    ]


def test_what_a_person_may_look_into_is_told_in_a_few_words() -> None:
    assert describe_open({"held": 1, "collisions": 0, "undecided": 2}) == "1 group held, 2 pairs undecided"
    assert describe_open({"merged": 5}) == ""


def test_a_collision_names_the_attribute_and_both_values(capsys) -> None:
    said = show(capsys, {"collisions": 1}, PlanReport(clashes=(CLASH,)))
    told = 'Acme (acme__org): founded stays 1990 (of acme__org); "19\\x1b91" (of acme ltd__org) is set aside'
    assert told in said
    assert "graphmill" not in said


def test_the_first_held_groups_are_shown_and_the_command_that_shows_all(capsys) -> None:
    said = show(capsys, {"held": SHOWN + 2}, held(SHOWN + 2))
    assert said.count("Ann ") == SHOWN
    assert "Ann 0 (a0) | b0" in said
    assert f"and 2 more: {MORE}" in said
    everything = show(capsys, {"held": SHOWN + 2}, held(SHOWN + 2), everything=True)
    assert everything.count("Ann ") == SHOWN + 2
    assert "more" not in everything


@pytest.mark.parametrize(("report", "told"), [({"held": 1}, True), ({"collisions": 1}, True), ({"merged": 1}, False)])
def test_names_that_are_out_of_reach_are_said_to_be(capsys, report, told) -> None:
    assert ("GRAPHMILL_ARTIFACTS_DIR" in show(capsys, report, None)) == told


def test_undecided_pairs_have_a_command_of_their_own(capsys) -> None:
    assert f"graphmill merges undecided{PLACE}" in show(capsys, {"undecided": 1}, PlanReport())
    pairs = [OpenPair(("a", "b"), ("Ann", "Anna"), "short", "rules")] * (SHOWN + 1)
    show_undecided(Output(as_json=False), pairs, "graphmill x")
    said = capsys.readouterr().out
    assert said.count("Ann (a) | Anna (b): short (rules)") == SHOWN
    assert "and 1 more: graphmill x" in said


@pytest.mark.parametrize(
    ("report", "told"), [({"held": 2}, "finalize 3 has ended: 2 groups held"), ({"merged": 2}, "finalize 3 has ended")]
)
def test_the_status_of_a_graph_says_what_its_last_finalize_left(report, told) -> None:
    assert _finalize_text(as_row(FinalizeStatus("kb", "idle", 3, "index", 1, 0, report, "", 0))) == told


def test_a_plan_is_out_of_reach_where_it_was_not_made_or_its_folder_is_not_here(tmp_path) -> None:
    client = Merging(Settings(data_dir=tmp_path, redis_url="redis://127.0.0.1:1"), None)
    for report in ({"plan_ms": 1}, {"merges_planned": 1}):
        assert client.plan_report(FinalizeStatus("kb", "idle", 3, "index", 1, 0, report, "", 0)) is None
