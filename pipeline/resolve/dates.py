"""Dates as texts and tables write them."""

import re
import unicodedata
from dataclasses import dataclass
from itertools import product

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro januari",
            "february feb februar fevrier febrero febbraio fevereiro februari",
            "march mar marz maerz mars marzo marco maart",
            "april apr avril abril aprile",
            "may mai mayo maggio maio mei",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet julio luglio julho",
            "august aug aout agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober okt octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez decembre diciembre dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}
_PART = re.compile(r"\d+|[^\W\d_]+")
_OF_ANOTHER_ERA = frozenset(("bc", "bce"))
_DIGITS_OF_A_YEAR, _MOST_DIGITS_OF_A_YEAR = 3, 4
_MONTH_AND_DAY = 2
_MOST_MONTHS, _MOST_DAYS = 12, 31


@dataclass(frozen=True, slots=True)
class Date:
    """What a date says; 0 where it says nothing."""

    year: int
    readings: frozenset[tuple[int, int]]
    """What month and day may be; several where nothing says which number is which (5/12/1960)."""


def read_date(text: str) -> Date | None:
    """Read a date; None where it has no year, or more numbers than one date has."""
    folded = "".join(char for char in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(char))
    folded = re.split(r"(?<=\d)t(?=\d)|\s\d\d?:", folded)[0]  # the time of day is left out
    parts = _PART.findall(folded)
    years = [part for part in parts if part.isdecimal() and len(part) >= _DIGITS_OF_A_YEAR]
    small = [int(part) for part in parts if part.isdecimal() and len(part) < _DIGITS_OF_A_YEAR]
    months = [_MONTHS[part] for part in parts if part in _MONTHS]
    if len(years) != 1 or len(years[0]) > _MOST_DIGITS_OF_A_YEAR or not _OF_ANOTHER_ERA.isdisjoint(parts):
        return None
    if len(months) > 1 or len(small) + len(months) > _MONTH_AND_DAY:
        return None
    if months:
        return Date(int(years[0]), frozenset(((months[0], small[0] if small else 0),)))
    if len(small) < _MONTH_AND_DAY:
        return Date(int(years[0]), frozenset(((small[0] if small else 0, 0),)))
    first, second = small
    orders = [(m, d) for m, d in ((first, second), (second, first)) if m <= _MOST_MONTHS and d <= _MOST_DAYS]
    if not orders:
        return None
    return Date(int(years[0]), frozenset(orders[:1] if parts[0] == years[0] else orders))


def dates_agree(one: Date, other: Date) -> bool:
    """Say whether two dates may be one; what only one of them says contradicts nothing."""
    return one.year == other.year and any(
        all(0 in pair or pair[0] == pair[1] for pair in zip(ours, theirs, strict=True))
        for ours, theirs in product(one.readings, other.readings)
    )
