"""The lines of a manifest that no listing of a folder makes."""

import pytest

from pipeline.errors import LoadCode, LoadError
from pipeline.load import walk_files
from pipeline.tables import TableOrder
from workers import giving

ORDER = TableOrder("Person", "id")


def test_a_table_is_one_file_below_the_root(tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "rows.csv").write_text("id\n1\n", "utf-8")
    line = giving.prepare_table(tmp_path / "sub" / "rows.csv", tmp_path, ORDER)
    assert (line.relative, line.size, line.order) == ("sub/rows.csv", 5, {"table": ORDER.spell()})
    with pytest.raises(LoadError, match="is a folder") as refused:
        giving.prepare_table(tmp_path / "sub", tmp_path, ORDER)
    assert refused.value.load_code is LoadCode.NOT_A_FILE


@pytest.mark.parametrize("names", [(), ("a.csv", "b.csv")], ids=["gone", "a folder"])
def test_a_table_that_is_no_file_any_more_when_it_is_listed_is_missing(tmp_path, monkeypatch, names) -> None:
    place = tmp_path / "rows.csv"
    place.write_text("id\n1\n", "utf-8")

    def replace_before(root, paths):
        listing = walk_files(root, paths)
        place.unlink()
        for name in names:
            place.mkdir(exist_ok=True)
            (place / name).touch()
        return listing

    monkeypatch.setattr(giving, "walk_files", replace_before)
    with pytest.raises(LoadError, match="is gone") as refused:
        giving.prepare_table(place, tmp_path, ORDER)
    assert refused.value.load_code is LoadCode.MISSING
