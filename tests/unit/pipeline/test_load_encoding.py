"""Bytes to text: equal text in every encoding that can be told, and no wrong letters in the others."""

import pytest

from pipeline.adapters.readers.encoding import decode
from pipeline.errors import LoadCode, LoadError
from pipeline.load import clean

ENGLISH = "Zoë Müller founded the Café Société in Malmö for 5 €."
RUSSIAN = "Компания была основана в Москве в 1990 году. Её основатель переехал в Киев и открыл там мастерскую."
JAPANESE = "この会社は東京で設立されました。創業者は田中さんです。"


def refused(data):
    with pytest.raises(LoadError) as caught:
        decode(data)
    return caught.value.load_code


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, JAPANESE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_its_marks_is_read_exactly(text, encoding):
    assert clean(decode(text.encode(encoding)).text) == text


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_unicode_without_a_mark_is_told_by_its_zeros(text, encoding):
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.encoding) == (text, encoding)


def test_big_endian_marks_are_read():
    assert decode(b"\xfe\xff" + ENGLISH.encode("utf-16-be")).text == ENGLISH
    assert decode(b"\x00\x00\xfe\xff" + ENGLISH.encode("utf-32-be")).text == ENGLISH


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ENGLISH, "cp1252"),
        ("A naïve façade.", "cp1252"),
        ("“Quotes” – and dashes — of Windows…", "cp1252"),
        ("Die Größe der Straße übertraf alles.", "cp1252"),
        ("El señor Núñez fundó la compañía.", "cp1252"),
        ("Společnost založil v Praze Jiří Dvořák.", "cp1250"),
        ("Spółkę założył w Łodzi Michał Dąbrowski.", "cp1250"),
        ("Skříň stojí vedle dveří, šéf přišel později.", "iso8859_2"),
        ("Şirketi İstanbul'da Ayşe Yılmaz kurdu.", "cp1254"),
        (RUSSIAN, "cp1251"),
        (JAPANESE, "iso2022_jp"),
        (JAPANESE * 4, "shift_jis"),
    ],
)
def test_older_encodings_are_told(text, encoding):
    assert decode(text.encode(encoding)).text == text


def test_a_short_text_is_read_right_or_not_at_all():
    wrong = []
    for text in (ENGLISH, RUSSIAN, JAPANESE, "Η εταιρεία ιδρύθηκε στην Αθήνα.", "회사는 서울에 있다."):
        for encoding in (
            "cp1250",
            "cp1251",
            "koi8_r",
            "cp866",
            "cp1253",
            "euc_jp",
            "shift_jis",
            "gb18030",
            "big5",
            "euc_kr",
        ):
            try:
                decoded = decode(text.encode(encoding))
            except (UnicodeEncodeError, LoadError):
                continue
            if decoded.text != text:
                wrong.append((encoding, decoded))
    assert wrong == []


def test_two_encodings_in_one_file_are_refused():
    assert refused("Zürich café\n".encode("latin-1") + "Zürich café\n".encode()) is LoadCode.ENCODING_UNKNOWN


def test_a_few_damaged_bytes_of_utf8_are_marked_and_told():
    decoded = decode(("Über Zürich nach Köln. " * 20).encode() + b"\xff." + " größer".encode())
    assert decoded.text.endswith(" Köln. \ufffd. größer")
    assert decoded.warnings == ("1 of 531 bytes are not valid UTF-8; U+FFFD stands in their place.",)


def test_surrogates_written_as_utf8_become_characters():
    assert clean(decode(b"a \xed\xa0\xbd\xed\xb8\x80 b").text) == "a \U0001f600 b"


def test_utf16_that_is_cut_off_is_refused():
    assert refused(ENGLISH.encode("utf-16") + b"x") is LoadCode.ENCODING_UNKNOWN


def test_stray_nuls_do_not_make_text_binary():
    assert clean(decode(b"Acme\x00 Corp\x00 was founded in 1999.\n" * 9).text).startswith("Acme Corp was")


@pytest.mark.parametrize(
    "data",
    [bytes(range(256)) * 8, b"\x00" * 100, b"text\x00\x00\x00" * 50, b"\x01\x02\x03\x04 text " * 9, b"ab\x00\xff" * 9],
)
def test_binary_data_is_no_text(data):
    assert refused(data) is LoadCode.NOT_THIS_FORMAT


def test_an_accent_late_in_a_long_file_is_seen():
    data = b"Plain words in plain letters.\n" * 20_000 + "Café Zürich\n".encode("cp1252") + b"More of them.\n" * 20_000
    assert "Café Zürich" in decode(data).text
