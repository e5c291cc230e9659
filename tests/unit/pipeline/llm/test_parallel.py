import threading
from contextvars import ContextVar

import pytest

from pipeline.llm.parallel import run_each


def test_each_item_gets_its_result_under_its_position():
    assert sorted(run_each(str.upper, "abc", threads=8)) == [(0, "A"), (1, "B"), (2, "C")]
    assert list(run_each(str.upper, "", threads=8)) == []


def test_as_many_run_at_once_as_there_are_threads_and_no_more():
    together = threading.Barrier(3, timeout=10)
    now, most, lock = 0, 0, threading.Lock()

    def meet(item):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        together.wait()
        with lock:
            now -= 1
        return item

    assert len(list(run_each(meet, range(9), threads=3))) == 9
    assert most == 3


def test_a_result_comes_while_others_are_still_being_made():
    may_end = threading.Event()

    def make(item):
        assert item != "slow" or may_end.wait(10)
        return item

    results = run_each(make, ["slow", "fast"], threads=2)
    assert next(results) == (1, "fast")
    may_end.set()
    assert list(results) == [(0, "slow")]


def test_closing_begins_nothing_more_and_waits_for_what_is_under_way():
    begun, ended, in_second, may_end = [], [], threading.Event(), threading.Event()

    def work(item):
        begun.append(item)
        if item:
            in_second.set()
            assert may_end.wait(10)
        ended.append(item)

    results = run_each(work, range(5), threads=1)
    next(results)
    assert in_second.wait(10)
    closing = threading.Thread(target=results.close)
    closing.start()
    closing.join(0.05)  # it has every chance to end, and must not
    assert closing.is_alive()
    may_end.set()
    closing.join(10)
    assert begun == ended == [0, 1]


def test_nothing_is_begun_before_the_first_result_is_asked_for():
    begun = []
    run_each(begun.append, range(3), threads=2).close()
    assert begun == []


def test_an_error_is_raised_after_what_is_under_way_has_ended():
    both, ended = threading.Barrier(2, timeout=10), []

    def work(item):
        if item < 2:
            both.wait()
        if item == 0:
            raise ValueError("broken")
        ended.append(item)

    with pytest.raises(ValueError, match="broken"):
        list(run_each(work, range(50), threads=2))
    assert len(ended) < 50
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("run-each")]


def test_the_threads_keep_no_process_from_ending_and_know_their_caller():
    caller = ContextVar("caller")
    caller.set("stage")
    (result,) = run_each(lambda _: (threading.current_thread().daemon, caller.get()), [0], threads=1)
    assert result == (0, (True, "stage"))
