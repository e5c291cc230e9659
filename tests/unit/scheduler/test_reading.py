"""How long a file that cannot be read now is waited for."""

import pytest

from pipeline.config import LoadConfig
from pipeline.errors import FileNotReady, LoadCode, LoadError
from scheduler.reading import MOST_WAITS, read_patiently
from scheduler.records import ClaimedFile


def claimed(waited_for, waits):
    return ClaimedFile(0, "a.txt", 1, {}, 90, 1, waited_for, waits)


@pytest.mark.parametrize(
    ("waited_for", "waits"), [("", 0), ("root_missing", MOST_WAITS - 1), ("graph_unavailable", MOST_WAITS + 50)]
)
def test_a_missing_root_is_waited_for(tmp_path, waited_for, waits):
    with pytest.raises(FileNotReady, match="mounted"):
        read_patiently(tmp_path / "gone", claimed(waited_for, waits), LoadConfig())


def test_a_root_that_stays_away_is_a_failure_that_tells_how_often_it_was_tried(tmp_path):
    with pytest.raises(LoadError, match=f"mounted.*tried {MOST_WAITS + 1} times") as caught:
        read_patiently(tmp_path / "gone", claimed("root_missing", MOST_WAITS), LoadConfig())
    assert caught.value.load_code is LoadCode.ROOT_MISSING


def test_a_root_that_came_back_is_read_however_long_it_was_away(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x")
    assert read_patiently(tmp_path, claimed("root_missing", MOST_WAITS), LoadConfig()) == b"x"
