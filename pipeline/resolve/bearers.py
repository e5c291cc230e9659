"""Who bears a name, by the label and the look of it: which rules may be used on it depends on that."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

_PERSON_LABELS = frozenset(
    "person per people human individual man woman author writer poet researcher scientist politician artist "  # noqa: SIM905 - a list of words is read as words
    "musician musicalartist actor actress character employee patient player athlete director".split()
)
_ORGANISATION_LABELS = frozenset(
    "organization organisation org company corporation corporate firm business enterprise institution institute "  # noqa: SIM905 - as above
    "agency authority ministry department government governmentagency university college school hospital bank "
    "legalentity club society association union party politicalparty team sportsteam band publisher manufacturer "
    "supplier vendor employer competitor startup foundation charity ngo nonprofit airline museum".split()
)
_THING_LABELS = frozenset(
    "location loc place gpe city town country state region province county district river mountain island facility "  # noqa: SIM905 - as above
    "building street address product device vehicle drug medication chemical substance material food disease "
    "disorder symptom treatment procedure gene protein species organism event date time quantity money unit number "
    "concept topic field discipline subject technology tool software system method algorithm model task metric "
    "dataset programminglanguage language law regulation policy standard document report book work workofart film "
    "movie song album magazine newspaper journal award project program programme industry sector service skill "
    "theory theorem misc".split()
)
_LABEL_BREAKS = re.compile(r"[\W_]+")
_FEWEST_WORDS, _MOST_WORDS = 2, 4


class Bearer(StrEnum):
    """What kind of entity bears a name."""

    PERSON = "person"
    ORGANISATION = "organisation"
    THING = "thing"
    """Of a label that people never have, or of a name that people never have."""
    UNCLEAR = "unclear"
    """Perhaps a person: neither the liberties taken with people's names nor those with others' are allowed."""


def find_bearer(labels: Iterable[str], names: Iterable[str]) -> Bearer:
    """Say who bears some names; of several labels the one that asks for the most caution counts."""
    words = {_fold(label) for label in labels}
    if words & _PERSON_LABELS:
        return Bearer.PERSON
    if words & _ORGANISATION_LABELS:
        return Bearer.ORGANISATION
    if words & _THING_LABELS or not any(map(may_be_of_a_person, names)):
        return Bearer.THING
    return Bearer.UNCLEAR


def may_be_of_a_person(name: str) -> bool:
    """Say whether a name looks like that of a person: two to four words, all with a capital or of a script without."""
    words = re.split(r"[\s,]+", name.strip())
    return _FEWEST_WORDS <= len(words) <= _MOST_WORDS and all(
        word and word[0].isalpha() and not word[0].islower() and not any(map(str.isdigit, word)) for word in words
    )


@lru_cache(maxsize=1_000)
def _fold(label: str) -> str:
    return _LABEL_BREAKS.sub("", label.casefold())
