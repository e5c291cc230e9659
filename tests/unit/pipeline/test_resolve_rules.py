"""What rules of the language say of two names, and what they leave open."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve import rules
from pipeline.resolve.bearers import Bearer
from pipeline.resolve.rules import judge_grouped, judge_names, judge_pair
from pipeline.resolve.values import Judged, Named, Verdict

WORDS = st.sampled_from(
    "Ann Anna Anne A. B. Smith Smyth Smithson Johnson Jonson Tim Timothy Quill Quills van der bin "  # noqa: SIM905 - a list of words is read as words
    "of the and new old Colour Color Fire Fighters Firefighters Telecomunications Telecommunications".split()
)
NAMES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
LETTERS = st.text(alphabet="abAB .,-'()1Iéж", max_size=16)


def judge(one: str, other: str, label: str = "Organization", **properties: object) -> Judged:
    return judge_pair(Named("1", label, one, properties=properties), Named("2", label, other))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Corvane Systems Ltd", "The Corvane Systems", "name"),
        ("JSC Corvane Systems", "Corvane Systems Joint Stock Company", "words"),
        ("Corvane N.V. Naamloze Vennootschap", "Corvane", "words"),
        ("Corvane Systems B.V., Utrecht, NL", "Corvane Systems BV", "address"),
        ("Corvane Technology B.V. (CTBV)", "Corvane Technology", "name"),
        ("Ashford Island Society (AIS)", "Ashford Island Society", "name"),
        ("AIS - Ashford Island Society", "Ashford Island Society", "name"),
        ("Ashford Island Society, AIS", "Ashford Island Society", "name"),
        ("Corvane & Co. Ltd.", "Corvane", "words"),
        ("Corvane Pharma", "Corvane Pharmaceuticals", "words"),
        ("Fund Two", "Fund II", "words"),
        ("Blue Sky Line", "Bluesky Line", "spaces"),
        ("Ministry of Defence", "Ministry of Defense", "spelling"),
        ("Labour Organisation", "Labor Organization", "spelling"),
        ("Corvane System", "Corvane Systems", "spelling"),
        ("Bank Corvane", "Bank of Corvane", "spelling"),
        ("Müller und Söhne", "Müller & Söhne", "spelling"),
        ("Corvane Systms", "Corvane Systems", "typo"),
        ("Corvnaeia Systems", "Corvaneia Systems", "typo"),
        ("Corvane Telecommunciations", "Corvane Telecommunications", "typo"),
        ("Corvane Telecomminications", "Corvane Telecommunications", "typo"),
        ("Walllmark Stores", "Wallmark Stores", "typo"),
        ("Wallmark", "Walmark", "typo"),
        ("Corvasia JSC", "Corvazia", "typo"),
        ("Corvane Aktiengeselschaft", "Corvane AG", "words"),
        ("CorvaneAG", "Corvane", "words"),
        ("CorvaneGmbH", "Corvane GmbH", "name"),
        ("Whitfordianum", "Whitfrdianum", "typo"),
        ("Corvane AG", "Corvane", "words"),
        ("Corvane, NV", "Corvane AB", "words"),
        ("Brigade Forty-Four", "Brigade 44", "words"),
        ("Second Corvane Bank", "2nd Corvane Bank", "words"),
    ],
)
def test_other_spellings_of_a_name_are_the_same(one, other, reason):
    for pair in ((one, other), (other, one)):
        judged = judge(*pair)
        assert (judged.verdict, judged.reason) == (Verdict.SAME, reason)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Elias Whitford", "Whitford Elias", "word order"),
        ("Mr. Elias Whitford", "Elias Whitford", "words"),
        ("Elias Whitford PhD", "Elias Whitford", "words"),
        ("J.R.R. Tolkien", "John Ronald Reuel Tolkien", "initial"),
        ("Elias M. Whitford", "Elias Mark Whitford", "initial"),
        ("Tim Quill", "Timothy Quill", "short"),
        ("Bill Quill", "William Quill", "short"),
        ("Elias Mark Whitford", "Elias Whitford", "middle name"),
        ("Gabriel García Márquez Quill", "Gabriel García Márquez", "middle name"),
        ("Jon Quill", "John Quill", "spelling"),
        ("Мария Иванова", "Maria Ivanova", "spelling"),
        ("Νίκος Παπαδόπουλος", "Nikos Papadopoulos", "spelling"),
        ("Muhammad Quill", "Mohamed Quill", "spelling"),
        ("Hafez Assad", "Hafez al-Assad", "spelling"),
        ("Elias Whitfrodia", "Elias Whitfordia", "typo"),
        ("Elias Trevuox", "Elias Trevoux", "typo"),
        ("Elias Hoffmann", "Elias Hoffman", "typo"),
        ("Fridrich Whitford", "Friedrich Whitford", "typo"),
        ("Anglea Whitford", "Angela Whitford", "typo"),
        ("Elias Petrosyan", "Elias Petrossyan", "spelling"),
        ("Osama Quillon", "Usama Quillon", "spelling"),
        ("Henry the Eighth", "Henry VIII", "words"),
        ("Аркадий Романович Ротенберг", "Rotenberg Arkadii", "middle name"),
        ("Ben Quill", "Benjamin Quill", "short"),
        ("Elias Whit ford", "Elias Mark Whitford", "middle name"),
    ],
)
def test_people_have_initials_short_names_and_middle_names(one, other, reason):
    for pair in ((one, other), (other, one)):
        judged = judge(*pair, label="Person")
        assert (judged.verdict, judged.reason) == (Verdict.SAME, reason)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Boeing 737", "Boeing 747", "numbers"),
        ("Fund II", "Fund III", "numbers"),
        ("First Corvane Bank", "Second Corvane Bank", "numbers"),
        ("1st Corvane Bank", "Second Corvane Bank", "numbers"),
        ("Corvane Bowl XXI", "Corvane Bowl XXII", "numbers"),
        ("Corvane Bowl XXIX", "Corvane Bowl LVII", "numbers"),
        ("Corvane Bowl MCMXC", "Corvane Bowl MCMXCI", "numbers"),
        ("Brigade Forty-Four", "Brigade Forty-Five", "numbers"),
        ("Thirteenth Legion", "Fourteenth Legion", "numbers"),
        ("Northwestern Corvane", "Southwestern Corvane", "opposites"),
        ("GPT-3.5", "GPT-35", "numbers"),
        ("Northern Corvane", "Southern Corvane", "opposites"),
        ("Corvane Import", "Corvane Export", "opposites"),
    ],
)
def test_numbers_and_opposites_tell_things_apart(one, other, reason):
    for pair in ((one, other), (other, one)):
        judged = judge(*pair)
        assert (judged.verdict, judged.reason) == (Verdict.DIFFERENT, reason)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Elias Whitford, Jr.", "Elias Whitford", "generation"),
        ("Elias Whitford Jr.", "Elias Whitford Sr.", "generation"),
        ("Elias Whitford II", "Elias Whitford III", "generation"),
        ("Mr. A. Whitford", "Mrs. A. Whitford", "title"),
        ("Whitford SA", "Whitford NV", "initials"),
        ("Elias A. Whitford", "Elias B. Whitford", "middle name"),
        ("George W. Bush", "George H. W. Bush", "middle name"),
        ("Elias Mark Whitford", "Elias Paul Whitford", "middle name"),
    ],
)
def test_generations_titles_and_middle_names_tell_people_apart(one, other, reason):
    for pair in ((one, other), (other, one)):
        judged = judge(*pair, label="Person")
        assert (judged.verdict, judged.reason) == (Verdict.DIFFERENT, reason)


@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        ("Boeing 737", "Boeing", "Product"),
        ("Corvane Europe", "Corvane", "Organization"),
        ("Corvane Europe", "Corvane International", "Organization"),
        ("Corvane N.V., Utrecht", "Corvane Systems N.V.", "Organization"),
        ("Corvane System NV, Utrecht", "Corvane Systems NV, Leuven", "Organization"),
        ("AIHS", "Ashford Island Historical Society", "Organization"),
        ("Institute Corvane", "Corvane Institute", "Organization"),
        ("University of Washington", "Washington University", "Organization"),
        ("National Bank of Iran", "National Bank of Iraq", "Organization"),
        ("Austria", "Australia", "Location"),
        ("Slovakia", "Slovenia", "Location"),
        ("Russia", "Russian", "Location"),
        ("Bank of Zambia", "Bank of Gambia", "Organization"),
        ("Hypertension", "Hypotension", "Disease"),
        ("Sodium Sulfate", "Sodium Sulfite", "Substance"),
        ("Des Moines", "Moines", "Location"),
        ("Bank of Corvane", "Corvane of Bank", "Organization"),
        ("BWI Industries", "BAE Industries", "Organization"),
        ("J. Whitford", "John Whitford", "Person"),
        ("J. de Vries", "Jan de Vries", "Person"),
        ("Whitford", "Elias Whitford", "Person"),
        ("President Whitford", "Elias Whitford", "Person"),
        ("Mario Lopez", "Maria Lopez", "Person"),
        ("Jackie Chan", "Jackie Chang", "Person"),
        ("Elias Robert", "Elias Roberts", "Person"),
        ("Al Gore", "Gore", "Person"),
        ("Martin Luther", "Martin Luther King", "Person"),
        ("Elias bin Omar Whitford", "Omar bin Elias Whitford", "Person"),
        ("Ben Stone", "Ben Stein", "Person"),
        ("", "Corvane", "Organization"),
        ("word " * 30, "wort " * 30, "Thing"),
    ],
)
def test_what_a_rule_cannot_tell_stays_undecided(one, other, label):
    assert judge(one, other, label).verdict is Verdict.UNDECIDED
    assert judge(other, one, label).verdict is Verdict.UNDECIDED


def test_rules_of_people_hold_for_people_only():
    assert judge("Tim Quill", "Timothy Quill", "Organization").verdict is Verdict.UNDECIDED
    assert judge("Corvane Pharma", "Corvane Pharmaceuticals", "Person").verdict is Verdict.UNDECIDED
    assert judge("Elias Mark Whitford", "Elias Whitford", "Place").verdict is Verdict.UNDECIDED


def test_labels_and_keys_come_before_names():
    assert judge_pair(Named("1", "Person", "Paris"), Named("2", "Location", "Paris")).reason == "labels"
    merged = Named("2", "Location", "Paris", merged_labels=("Person",))
    assert judge_pair(Named("1", "Person", "Paris"), merged).verdict is Verdict.SAME
    rows = [Named(f"KEY:Person:{key}", "Person", "Ada Quill", keyed=True) for key in "12"]
    judged = judge_pair(*rows)
    assert (judged.verdict, judged.reason, judged.judge) == (Verdict.DIFFERENT, "keys", "rules")


def test_an_alias_can_be_the_name_of_the_other():
    one = Named("1", "Organization", "Globex", aliases=("Corvane Systems",))
    other = Named("2", "Organization", "Corvane Systems Ltd")
    assert judge_pair(one, other).reason == "alias"
    # What tells the names apart is not outweighed.
    jet, other_jet = (
        Named("1", "Jet", "Boeing 737", aliases=("Jet",)),
        Named("2", "Jet", "Boeing 747", aliases=("Jet",)),
    )
    assert judge_pair(jet, other_jet).verdict is Verdict.DIFFERENT


def test_what_was_put_together_is_the_same_unless_something_tells_it_apart():
    short, long = Named("1", "Club", "AIHS"), Named("2", "Club", "Ashford Island Historical Society")
    assert judge_grouped(short, long) == Judged(("1", "2"), Verdict.SAME, "acronym", "rules")
    born = [Named(str(year), "Person", "Ada Quill", properties={"born": year}) for year in (1960, 1961)]
    assert judge_grouped(*born) == Judged(("1960", "1961"), Verdict.DIFFERENT, "birth", "rules")


@given(LETTERS, LETTERS, st.booleans())
def test_any_two_names_are_judged_and_the_order_never_decides(one, other, person):
    label = "Person" if person else "Thing"
    first, second = Named("1", label, one), Named("2", label, other)
    assert judge_pair(first, second) == judge_pair(second, first)
    assert judge_names(one, one, Bearer.PERSON if person else Bearer.THING)[0] is (
        Verdict.SAME if one.split() else Verdict.UNDECIDED
    )


@given(NAMES, NAMES, st.sampled_from(Bearer))
def test_words_that_stand_alone_only_spare_the_alignment(one, other, bearer):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "stands_alone", lambda *_: False)
        aligned = judge_names(one, other, bearer)
    assert judge_names(one, other, bearer) == aligned


SHORT_WORDS = ("iran", "iraq", "mali", "bali", "chad", "chat", "oman")


@pytest.mark.parametrize(("one", "other"), list(combinations(SHORT_WORDS, 2)))
def test_short_words_that_differ_are_other_words(one, other):
    assert judge(f"Bank of {one}", f"Bank of {other}").verdict is Verdict.UNDECIDED
