"""What kinds of things names stand for: spaCy's labels, common nouns that tell a kind, and declared types."""

import re
from enum import StrEnum
from functools import lru_cache

from pipeline.ontology import UNKNOWN, Ontology


class Kind(StrEnum):
    """The labels of the model's scheme (OntoNotes 5) that make entities, and four that it lacks."""

    PERSON = "PERSON"
    ORG = "ORG"
    GPE = "GPE"
    LOC = "LOC"
    FAC = "FAC"
    NORP = "NORP"
    PRODUCT = "PRODUCT"
    WORK = "WORK_OF_ART"
    EVENT = "EVENT"
    LAW = "LAW"
    LANGUAGE = "LANGUAGE"
    DATE = "DATE"
    TECHNOLOGY = "TECHNOLOGY"
    METHOD = "METHOD"
    DATASET = "DATASET"
    CONCEPT = "CONCEPT"


PLACES = frozenset((Kind.GPE, Kind.LOC, Kind.FAC))

# Labels, synonyms and words of descriptions by which an ontology may declare a kind, best first.
_TYPE_WORDS = {
    Kind.PERSON: "person|people|human|human being|individual|character",
    Kind.ORG: "organization|organisation|company|institution|corporation|agency|group|team",
    Kind.GPE: "geopolitical entity|gpe|location|place|country|city|settlement|region",
    Kind.LOC: "location|place|region|landform|geographic feature",
    Kind.FAC: "facility|building|structure|location|place",
    Kind.NORP: "norp|nationality|ethnic group|religious group|demonym|religion|concept",
    Kind.PRODUCT: "product|device|vehicle|software|artifact|object",
    Kind.WORK: "work of art|creative work|work|artwork|media|product",
    Kind.EVENT: "event|happening|incident",
    Kind.LAW: "law|legislation|regulation|statute|treaty",
    Kind.LANGUAGE: "language|concept",
    Kind.DATE: "date|time|period|year",
    Kind.TECHNOLOGY: "technology|software|system|product",
    Kind.METHOD: "method|algorithm|technique|procedure|concept",
    Kind.DATASET: "dataset|corpus|database",
    Kind.CONCEPT: "concept|idea|topic|field|subject",
}

# Common nouns that tell the kind of what is called so: "X is a band", "the river X", "X University".
_NOUNS = {
    Kind.PERSON: """
        person man woman boy girl actor actress artist author writer poet novelist journalist singer songwriter
        musician rapper guitarist bassist drummer pianist composer conductor producer director filmmaker screenwriter
        comedian dancer model player footballer cricketer coach athlete swimmer boxer wrestler racer driver politician
        president minister senator governor mayor king queen prince princess emperor duke bishop pope priest saint
        officer general soldier lawyer judge physician doctor nurse scientist physicist chemist biologist
        mathematician economist philosopher historian professor teacher engineer inventor architect painter sculptor
        photographer designer businessman businesswoman entrepreneur ceo founder chairman activist
        wife husband son daughter brother sister father mother friend frontman vocalist
        """,
    Kind.ORG: """
        organization organisation company corporation firm business manufacturer publisher bank airline agency
        institute institution university college school academy association society club team squad band orchestra
        choir ensemble duo trio quartet party union league federation committee commission council ministry
        department government parliament senate court church army navy regiment battalion squadron newspaper network
        label foundation charity startup subsidiary museum hospital laboratory
        """,
    Kind.GPE: "country nation republic kingdom state province county city town village municipality capital suburb",
    Kind.LOC: """
        region district area continent island archipelago peninsula river lake sea ocean bay gulf strait mountain
        mountains hill hills valley desert forest park coast planet
        """,
    Kind.FAC: """
        building house palace castle tower bridge airport station stadium arena theatre theater cathedral temple
        street road highway railway square prison
        """,
    Kind.WORK: """
        film movie book novel novella poem play opera musical album song single ep soundtrack symphony painting
        sculpture series sitcom show episode documentary magazine journal manga anime comic trilogy
        """,
    Kind.EVENT: """
        event battle war siege revolution uprising election tournament championship championships cup olympics games
        festival conference summit ceremony award prize medal race season earthquake hurricane flood massacre
        """,
    Kind.LAW: "law act bill treaty constitution amendment statute directive regulation agreement",
    Kind.PRODUCT: """
        product device car automobile aircraft airplane ship submarine locomotive missile rifle weapon phone
        smartphone console game drug
        """,
    Kind.TECHNOLOGY: "technology software framework library platform protocol standard format database engine",
    Kind.METHOD: "method algorithm technique procedure model classifier",
    Kind.DATASET: "dataset corpus",
    Kind.LANGUAGE: "language dialect",
    Kind.CONCEPT: "concept theory theorem genre discipline religion species genus disease syndrome",
}
_KIND_BY_NOUN = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}


def kind_of_noun(noun: str) -> Kind | None:
    """Tell what a lower-case common noun says about the things that are called so."""
    return _KIND_BY_NOUN.get(noun)


def declared_type(kind: Kind | None, noun: str, ontology: Ontology) -> str:
    """Map a name to a declared type: by its noun's own type, then by its kind, else `Unknown`.

    `noun` is the common noun that the text calls it by or that it holds, or empty. Types are found by label and
    synonyms, then by the words of their descriptions.
    """
    if noun and (exact := ontology.resolve_label(noun)) != UNKNOWN:
        return exact
    return UNKNOWN if kind is None else _type_by_kind(ontology)[kind]


@lru_cache(maxsize=16)
def _type_by_kind(ontology: Ontology) -> dict[Kind, str]:
    """Find for every kind the declared type that means it."""
    return {kind: _find_type(words.split("|"), ontology) for kind, words in _TYPE_WORDS.items()}


def _find_type(words: list[str], ontology: Ontology) -> str:
    for word in words:
        if (label := ontology.resolve_label(word)) != UNKNOWN:
            return label
    for word in words:
        pattern = re.compile(rf"\b{re.escape(word)}s?\b", re.IGNORECASE)
        found = [declared.label for declared in ontology.entity_types if pattern.search(declared.description)]
        # A word in two descriptions tells nothing; the next word may.
        if len(found) == 1:
            return found[0]
    return UNKNOWN
