"""What a run is told of the places of its files."""

from pathlib import Path

import pytest

from workers.submitting import absolute


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/deep")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_relative_path_begins_in_the_folder_of_this_process(here) -> None:
    assert absolute(Path("real/deep")) == absolute("real/deep") == str(here / "real" / "deep")
    assert absolute(here / "real") == str(here / "real")
    assert absolute(Path()) == str(here)


def test_links_stay_links_and_up_is_up_from_where_they_lead(here) -> None:
    assert absolute("link") == str(here / "link")
    assert absolute("link/..") == str(here / "real")


def test_what_is_no_file_has_no_root(here) -> None:
    assert absolute("") == ""
