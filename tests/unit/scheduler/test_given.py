"""Which ids a given text may have, and where it waits."""

import pytest

from pipeline.errors import LoadCode, LoadError
from pipeline.ids import content_hash
from pipeline.write import MAX_ID_BYTES
from scheduler.codec import decode_text
from scheduler.errors import DocumentIdInvalid
from scheduler.given import check_document_id, clean_given, give_text, take_text


class Shelf(dict):
    """An artifact store in memory."""

    store_id = "shelf"
    put = dict.__setitem__


@pytest.mark.parametrize("identity", ["minutes", "wiki/Ada Quill", "日報 7", "File:x", "a:b", "x" * 4000, "👩‍🔬"])
def test_an_id_is_what_the_graph_finds_again(identity):
    check_document_id(identity)


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        (" a", "white space"),
        ("a\n", "white space"),
        ("file:a.txt", "that of a file's document"),
        ("file:", "that of a file's document"),
        ("a\x1fnext", "U+001F"),
        ("a\0b", "U+0000"),
        ("a\nb", "U+000A"),
        ("a\ud800b", "U+D800"),
        ("x" * (MAX_ID_BYTES - 3), "bytes"),
        ("é" * (MAX_ID_BYTES // 2), "bytes"),
    ],
)
def test_another_id_is_refused_with_the_reason(identity, said):
    with pytest.raises(DocumentIdInvalid) as caught:
        check_document_id(identity)
    assert said in str(caught.value)


def test_the_longest_id_leaves_room_for_its_versions():
    longest = "x" * (MAX_ID_BYTES - len("\x1fnext"))
    check_document_id(longest)
    with pytest.raises(DocumentIdInvalid, match=f"{len(longest):,} again at most"):
        check_document_id(longest + "x")


def test_given_text_is_cleaned_as_that_of_files():
    assert clean_given("\ufeffone\0\r\ntwo\ud800 \ud83d\ude00", 99) == "one\ntwo \U0001f600"
    assert clean_given(" \n\u200b", 99) == ""
    with pytest.raises(LoadError) as caught:
        clean_given("long", 3)
    assert caught.value.load_code is LoadCode.LIMIT_EXCEEDED


def test_what_was_given_is_found_by_its_hash_and_equal_text_is_stored_once():
    shelf = Shelf()
    first, second = give_text("Ada left.", "a", shelf), give_text("Ada left.", "b", shelf)
    assert (first.relative, first.order) == ("a", {"id": "a", "content": content_hash("Ada left.")})
    assert second.order["id"] == "b"
    (key,) = shelf
    assert take_text("a", first.order["content"], shelf) == key
    assert decode_text(shelf[key]).text == "Ada left."


@pytest.mark.parametrize(("text", "code"), [("", LoadCode.EMPTY_DOCUMENT), ("gone", LoadCode.MISSING)])
def test_what_is_not_there_has_a_closed_code(text, code):
    with pytest.raises(LoadError) as caught:
        take_text("minutes", content_hash(text), Shelf())
    assert caught.value.load_code is code
