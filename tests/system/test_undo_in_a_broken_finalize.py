"""What a person has undone stays undone, also where the merge is part of a plan that is not yet worked off."""

import pytest
from alike import SHORT, make_files, start

from scheduler.errors import LeaseUnavailable
from scheduler.finalize import Phase

AGAIN = {"GRAPHMILL_FINALIZE_SECONDS": "8"}
"""What a killed worker held is free long before its work is sent again."""


def undo(plant, graph, identity):
    """Undo a merge; False while others are at work."""
    try:
        plant.client.undo_merge(graph, identity)
    except LeaseUnavailable:
        return False
    return True


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_merge_that_was_undone_is_not_made_again_when_its_finalize_goes_on(tmp_path, engine):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "plant").mkdir()
    with start(tmp_path / "plant", engine, workers=2, **(SHORT | AGAIN)) as plant:
        plant.write(make_files(tmp_path / "corpus"), tmp_path / "corpus", "kb")
        plant.order("kill", Phase.MERGE)
        number = plant.client.finalize("kb")
        plant.wait_until(lambda: plant.client.merges("kb"))
        (made,) = plant.client.merges("kb")
        plant.wait_until(lambda: undo(plant, "kb", made.id))
        assert plant.client.merges("kb") == [], "the finalize went on before the undo"
        planned = plant.end_finalize("kb", number).report["merges_planned"]
        listed = {merge.id for merge in plant.client.merges("kb")}
        assert made.id not in listed
        assert len(listed) == planned - 1
        plant.finalize("kb")
        plant.check_clean("kb")
        assert made.id not in {merge.id for merge in plant.client.merges("kb")}
