"""What rules must not take for one: names that look alike, by the kinds of likeness."""

import time

import pytest

from pipeline.resolve.merges import plan_exact
from pipeline.resolve.rules import judge_grouped, judge_pair
from pipeline.resolve.values import Named, Verdict

KINDS = {
    "Person: surnames that begin alike": [
        *(("David Gold", "David Goldstein"), ("Jim Hall", "Jim Halliday"), ("Li Wei", "Li Weiming")),
        *(("Ann Stein", "Ann Steinberg"), ("Elias Ben", "Elias Benjamin"), ("Park Min", "Park Minjun")),
        *(("Ada Will", "Ada William"), ("Elias Mark S.", "Elias Mark Stone")),
    ],
    "Person: given names made of others": [
        *(("Daniel Smith", "Danielle Smith"), ("Joseph Smith", "Josephine Smith"), ("Paul Smith", "Pauline Smith")),
        *(("Jean Dupont", "Jeanne Dupont"), ("Denis Martin", "Denise Martin"), ("Mario Rossi", "Maria Rossi")),
        *(("Michele Rossi", "Michelle Rossi"), ("Gabriele Conti", "Gabrielle Conti"), ("Иван Петров", "Иванна Петров")),
        *(("Francis Bell", "Frances Bell"), ("Julian Bell", "Juliane Bell"), ("Viktor Orlov", "Viktoria Orlov")),
    ],
    "Person: surnames with another letter": [
        *(("Ann Johnson", "Ann Johnston"), ("Ann Thomson", "Ann Thompson"), ("Ann Anderson", "Ann Andersen")),
        *(("Ivan Petrovich", "Ivan Petkovich"), ("Иван Петров", "Иван Петрова"), ("Ali Khan", "Ali Han")),
        *(("Anna Kowalski", "Anna Kowalska"), ("Ben Rosenberg", "Ben Rosenburg")),
    ],
    "Person: surnames of other families, beside a whole word": [
        *(("Anna Johnson", "Anna Johnston"), ("Anna Lindenberg", "Anna Lindenburg"), ("Anna Clark", "Anna Clarke")),
        *(("Mark Zuckermann", "Mark Zuckerberg"), ("Larry Allison", "Larry Ellison"), ("Imran Khaja", "Imran Khan")),
        *(("Wang Jinping", "Wang Jinpeng"), ("Yumi Takeda", "Yumi Takada"), ("A. Trevoux", "A. Trevuox")),
        *(("Anna Maria Trevoux", "Anna M. Trevuox"), ("محمد سلطان", "محمد سلمان"), ("Anna Smith", "Anna Smyth")),
    ],
    "Person: given names that are near others": [
        *(("Selena Whitford", "Serena Whitford"), ("Tom Whitford", "Tim Whitford"), ("Anders Roth", "Andres Roth")),
        *(
            ("Takeshi Whitford", "Takashi Whitford"),
            ("Rajesh Patel", "Rakesh Patel"),
            ("Anglea Trevoux", "Angela Trevuox"),
        ),
    ],
    "Person: two given names in another order": [
        *(("Henry James", "James Henry"), ("Thomas Martin", "Martin Thomas"), ("Wei Wang", "Wang Wei")),
    ],
    "Person: numbers of rulers": [
        *(("Henry VII", "Henry VIII"), ("James I of England", "James II of England"), ("John XXII", "John XXIII")),
        *(("Louis XVI of France", "Louis XVIII of France"), ("Pius XI", "Pius XII"), ("Henry V", "Henry VI")),
        *(("Henry the Seventh", "Henry the Eighth"), ("Carlos I de Navarra", "Carlos II de Navarra")),
        *(("John Paul I", "John Paul II"), ("Ramesses II", "Ramesses III"), ("Henry VIII", "Henry")),
    ],
    "Customer: perhaps people": [
        *(("Mario Rossi", "Maria Rossi"), ("Antonio Rossi", "Antonia Rossi"), ("Roberto Bruni", "Roberta Bruni")),
        *(("Elias Robert", "Elias Roberts"), ("Rossi Mario", "Mario Rossi"), ("Мария Иванов", "Марий Иванов")),
    ],
    "Organization: words that are near others": [
        *(
            ("Northwestern University", "Northeastern University"),
            ("University of Northampton", "University of Southampton"),
        ),
        *(("Southwestern University", "Northeastern University"), ("Manchester Trust", "Winchester Trust")),
        *(("Stanford University", "Stamford University"), ("Corvane Martial", "Corvane Marital")),
        *(
            ("Corvane Desert Park", "Corvane Dessert Park"),
            ("Mouse House", "Moose House"),
            ("Bach Choir", "Batch Choir"),
        ),
        *(("Shell Corvane", "Sell Corvane"), ("Bath College", "Bat College"), ("Austria Corvane", "Australia Corvane")),
    ],
    "Organization: words of one ending, and countries": [
        *(("Corvane Project", "Corvane Protect"), ("Oncology Institute", "Ontology Institute")),
        *(("Healing Center", "Heating Center"), ("Bank of China", "Bank of Chile"), ("Ireland Trust", "Iceland Trust")),
        *(("Slovakia Bank", "Slovenia Bank"), ("Genesys", "Genesis"), ("Corvane Typical", "Corvane Atypical")),
        *(("Intranet Corvane", "Internet Corvane"), ("Substructure Corvane", "Structure Corvane")),
    ],
    "Organization: words that are near legal forms": [
        *(("Corvane Cooperation", "Corvane"), ("Corvane Incorporation", "Corvane"), ("CorvaneNet", "Corvane")),
        ("CorvanAG", "CorvaneAG"),
    ],
    "Organization: parts of a firm": [
        *(
            ("Corvane Ltd, Plant 1", "Corvane Ltd, Plant 2"),
            ("Corvane Ltd, North Division", "Corvane Ltd, South Division"),
        ),
        *(("Corvane Ltd, Plant 1", "Corvane Ltd"), ("Corvane GmbH, Berlin", "Corvane GmbH, Berlin Factory")),
        *(("Corvane Ltd, London, UK", "Corvane Ltd, London, CA"), ("Corvane GmbH, Berlin", "Corvane GmbH, Munich")),
    ],
    "Substance: endings and beginnings": [
        *(("Chlorine", "Chloride"), ("Prednisone", "Prednisolone"), ("Methanol", "Ethanol"), ("chlorate", "chlorite")),
        *(("glutamine", "glucamine"), ("hydroxyzine", "hydralazine"), ("thymine", "thiamine")),
    ],
    "Concept: endings and beginnings": [
        *(("symmetric encryption", "asymmetric encryption"), ("Supervised learning", "Unsupervised learning")),
        *(("Immigration", "Emigration"), ("conservation of matter", "conversation of matter")),
    ],
    "Concept: kinds of firms": [
        ("insurance company", "insurance"),
        ("Bad Company", "Bad"),
        ("Holding Corporation", "Holding"),
    ],
    "Customer: perhaps a firm": [("Mario Rossi Ltd", "Mario Rossi")],
    "Person: syllables": [("Kim Il", "Kim Jong Il"), ("CHANG SU HA", "CHANG CHANG HA"), ("Li Na", "Li Xiao Na")],
    "Person: names that sound alike": [
        *(("Ann Smith", "Ann Smyth"), ("Hans Meyer", "Hans Meier"), ("Karl Fischer", "Karl Fisher")),
        *(("Michael Roth", "Michal Roth"), ("Nicola Roth", "Nikola Roth"), ("Paul Roussel", "Paul Russell")),
    ],
    "Organization: doubled letters and repeated words": [
        *(("Planning Board", "Planing Board"), ("Super Club", "Supper Club"), ("Walla Walla College", "Walla College")),
    ],
    "Place: near names": [
        *(
            ("Guadalupe", "Guadeloupe"),
            ("Hartford", "Hertford"),
            ("Paris, KY", "Paris"),
            ("Kansas City, KS", "Kansas City"),
        ),
    ],
    "Product: another order, another version": [
        *(("Palm oil", "Oil palm"), ("Milk chocolate", "Chocolate milk"), ("iPhone SE", "iPhone")),
        *((".NET", "NET"), ("Galaxy S+", "Galaxy S"), ("C#", "C")),
        *(("Corvane XX", "Corvane XXI"), ("Corvane -40", "Corvane 40"), ("Windows RT", "Windows")),
    ],
    "Person: scripts without spaces": [
        ("王小明先生様", "王大明先生様"),
        ("김민수민수민", "김민준민수민"),
        ("สมชายใจดีมาก", "สมชาญใจดีมาก"),
    ],
    "Organization: scripts without spaces": [
        *(
            ("東京電力開発株式会社本店", "東京電力閉発株式会社本店"),
            ("トヨタモーターズジャパン", "トヨタモータースジャパン"),
        ),
        *(("삼성전자주식회사본사", "삼성전기주식회사본사"), ("ธนาคารกรุงเทพมหานคร", "ธนาคารกรุงเทบมหานคร")),
    ],
}


@pytest.mark.parametrize(
    ("kind", "one", "other"), [(kind, *pair) for kind, pairs in KINDS.items() for pair in pairs], ids=str
)
def test_names_that_only_look_alike_are_not_the_same(kind, one, other):
    label = kind.partition(":")[0]
    for pair in ((one, other), (other, one)):
        assert judge_pair(Named("1", label, pair[0]), Named("2", label, pair[1])).verdict is not Verdict.SAME
    assert plan_exact((Named("1", label, one), Named("2", label, other))).groups == ()


@pytest.mark.parametrize(
    ("label", "one", "other"),
    [
        ("Person", "Louis XVI of France", "Louis XVIII of France"),
        ("Person", "James I of England", "James II of England"),
        ("Person", "Henry V", "Henry VI"),
        ("Person", "Henry VII", "Henry the Eighth"),
        ("Event", "Super Bowl XXI", "Super Bowl XXIII"),
        ("Event", "Super Bowl 21", "Super Bowl XXIII"),
        ("Anything", "The 12th of them", "The Thirteenth of them"),
    ],
)
def test_other_numbers_tell_apart_however_they_are_written(label, one, other):
    judged = judge_pair(Named("1", label, one), Named("2", label, other))
    assert (judged.verdict, judged.reason) == (Verdict.DIFFERENT, "numbers")


@pytest.mark.parametrize(
    ("one", "aliases", "other"),
    [
        ("George Bush", ("George W. Bush",), "George H. W. Bush"),
        ("Pat Quill", ("Patrick Quill",), "Patricia Quill"),
        ("Elias Whitford", ("Elias Whitford Jr.",), "Elias Whitford Sr."),
        ("J. K. Whitford", ("John Kevin Whitford",), "James Karl Whitford"),
        ("Henry", ("Henry VII",), "Henry VIII"),
    ],
)
def test_an_alias_speaks_against_what_the_name_speaks_for(one, aliases, other):
    known = Named("1", "Person", one, aliases=aliases)
    assert judge_pair(known, Named("2", "Person", other)).verdict is not Verdict.SAME
    assert judge_pair(known, Named("2", "Person", "Nobody", aliases=(other, one))).verdict is not Verdict.SAME


def test_equal_names_of_people_who_are_called_otherwise_too_are_not_the_same():
    bushes = [Named(one, "Person", "George Bush", aliases=(f"George {one} Bush",)) for one in ("H. W.", "W.")]
    assert judge_grouped(*bushes).verdict is Verdict.UNDECIDED


def test_an_alias_that_is_merely_unlike_speaks_against_nothing():
    one = Named("1", "Person", "Mark Twain", aliases=("Samuel Clemens", "S. L. Clemens"))
    assert judge_pair(one, Named("2", "Person", "Twain, Mark")).verdict is Verdict.SAME


def test_an_alias_that_is_the_name_misspelt_speaks_against_nothing():
    one = Named("1", "Person", "Angela Quill", aliases=("Anglea Quill",))
    assert judge_pair(one, Named("2", "Person", "Quill, Angela")).verdict is Verdict.SAME


def test_names_of_equal_length_are_short_for_one_another_in_either_order():
    names = Named("1", "Person", "Harry Quill"), Named("2", "Person", "Henry Quill")
    swapped = Named("1", "Person", "Henry Quill"), Named("2", "Person", "Harry Quill")
    assert judge_pair(*names) == judge_pair(*swapped)


def test_the_end_of_a_surname_is_no_legal_form():
    row = Named("KEY:Person:1", "Person", "Smith", keyed=True)
    assert plan_exact((row, Named("2", "Person", "Smith, S.A."))).merges == ()
    assert judge_pair(row, Named("2", "Person", "Smith, S.A.")).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("label", ["Person", "Organization"])
@pytest.mark.parametrize(
    "text", ["(" * 100_000, " (" * 50_000, "a" * 100_000, "ab " * 33_000, "x (y) " * 16_000, "1," * 50_000]
)
def test_a_text_in_place_of_a_name_costs_little_and_is_compared_by_its_key(label, text):
    texts = [Named("1", label, text), Named("2", label, text + "b"), Named("3", label, text + " ")]
    begun = time.process_time()
    assert judge_pair(*texts[:2]).verdict is Verdict.UNDECIDED
    assert judge_pair(texts[0], texts[2]).verdict is Verdict.SAME
    assert time.process_time() - begun < 2  # seconds; quadratic, it takes minutes
