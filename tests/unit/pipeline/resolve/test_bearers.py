"""Who bears a name."""

import pytest

from pipeline.resolve.bearers import Bearer, find_bearer


@pytest.mark.parametrize(
    ("labels", "names", "bearer"),
    [
        (["Person"], ["x"], Bearer.PERSON),
        (["MUSICAL_ARTIST"], ["x"], Bearer.PERSON),
        (["Organization", "Person"], ["x"], Bearer.PERSON),
        (["LegalEntity"], ["Ada Quill"], Bearer.ORGANISATION),
        (["Location"], ["Port Ember"], Bearer.THING),
        (["Customer"], ["Ada Quill"], Bearer.UNCLEAR),
        (["Customer"], ["acme", "Quill, Ada"], Bearer.UNCLEAR),
        (["Customer"], ["محمد علي"], Bearer.UNCLEAR),
        (["Customer"], ["ada quill"], Bearer.THING),
        (["Customer"], ["Boeing 747"], Bearer.THING),
        (["Customer"], ["Federal Bureau of Investigation"], Bearer.THING),
        (["Customer"], ["Ada"], Bearer.THING),
    ],
)
def test_the_label_tells_or_else_the_look_of_the_name(labels, names, bearer):
    assert find_bearer(labels, names) is bearer
