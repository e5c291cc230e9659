"""A folder is told to have changed once it is still again."""

from itertools import islice

import pytest

from workers.watching import Stillness, watch_folder


@pytest.fixture
def clock():
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    return Clock()


def see(still, clock, at, *, changed=False):
    clock.now = at
    return still.see(changed=changed)


def test_a_change_counts_once_nothing_has_moved_for_the_delay(clock) -> None:
    still = Stillness(2.0, clock)
    assert not see(still, clock, 0)
    assert not see(still, clock, 1, changed=True)
    assert not see(still, clock, 2.5, changed=True)
    assert not see(still, clock, 4.4)
    assert see(still, clock, 4.5)
    assert not see(still, clock, 9)


def test_what_never_holds_still_is_taken_as_it_is_after_a_while(clock) -> None:
    still = Stillness(1.0, clock)
    due = [at for at in range(40) if see(still, clock, at * 0.5, changed=True)]
    assert due == [20]


def look(news, looks=400):
    """Tell whether a change is noticed within some looks."""
    return any(islice(news, looks))


@pytest.mark.parametrize("poll", [False, True])
def test_new_changed_renamed_and_removed_files_are_noticed(tmp_path, poll) -> None:
    news = watch_folder(tmp_path, 0.1, poll=poll)
    assert next(news), "what happened before is not known"
    place = tmp_path / "sub" / "a.txt"
    changes = (
        place.parent.mkdir,
        lambda: place.write_text("one", "utf-8"),
        lambda: place.write_text("another", "utf-8"),
        lambda: place.rename(tmp_path / "b.txt"),
        (tmp_path / "b.txt").unlink,
    )
    for change in changes:
        change()
        assert look(news)
        assert not any(islice(news, 5))


def test_hidden_names_are_passed_over(tmp_path) -> None:
    news = watch_folder(tmp_path, 0.1, poll=False)
    next(news)
    (tmp_path / ".graphmill").mkdir()
    (tmp_path / ".graphmill" / "log.txt").write_text("noise", "utf-8")
    assert not any(islice(news, 20))


def test_a_folder_that_goes_and_comes_back_has_changed(tmp_path) -> None:
    folder = tmp_path / "share"
    folder.mkdir()
    news = watch_folder(folder, 0.1, poll=False)
    next(news)
    folder.rename(tmp_path / "away")
    assert not any(islice(news, 20))
    folder.mkdir()
    assert look(news)
    (folder / "new.txt").write_text("text", "utf-8")
    assert look(news), "it is the new folder that is watched"
