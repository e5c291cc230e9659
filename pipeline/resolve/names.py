"""The canonical key of a name: what is left when spelling habits are taken away.

Rules: the GraphRAG SDK's exact-match phase. Case, accents of Latin letters, punctuation, inner dots, a leading English
article, `Surname, Given`, common abbreviations and one trailing legal form go, if it can be nothing else; word order,
digits with their signs, marks of grades (A-, A*) and the letters of other scripts stay. A key is compared, never shown;
a changed rule makes other keys, so graphs must then be keyed anew.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from cleanco.termdata import terms_by_country, terms_by_type

from pipeline.ids import normalise_name

_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\w)")
_ARTICLE_OF_INVERTED = re.compile(r"the\s+(?=\w)")  # in "Lee, A" the A is an initial
_SPACED_INITIALS = re.compile(r"\b([^\W\d_])\.\s+(?=[^\W\d_]\.)")
_INNER_DOT = re.compile(r"(?<=[^\W\d_])\.(?=[^\W\d_])")
_DECIMAL_POINT = re.compile(r"(?<=\d)\.(?=\d)|(?<!\S)\.(?=[^\W_])")
_SIGN = re.compile(r"(?<!\S)[-−](?=\.?\d)")
_MARK_OF_A_GRADE = re.compile(r"(?<=\b[^\W_])([-−*])(?!\S)|(?<=\b[^\W_]{2})([-−*])(?!\S)")
_APOSTROPHES = "'’‘ʼ`´"
_MARKS_OF_TRADE = dict.fromkeys(map(ord, "®™©℠"))
_KEPT_AFTER_WORD = frozenset("#%")  # C# is not C, 5 % is not 5
_POINT, _MINUS, _STAR = "\ue000\ue001\ue002"  # private use: stand for marks that stay while punctuation goes
_KEPT_MARKS = str.maketrans({_POINT: ".", _MINUS: "-", _STAR: "*"})
_BREAKS_IN_ASCII = _KEPT_MARKS | {
    code: "" if chr(code) in _APOSTROPHES else " "
    for code in range(128)
    if chr(code) in _APOSTROPHES or unicodedata.category(chr(code))[0] in "PZC"
}
_LATIN_END = "\u0250"
_STROKED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})

_GENERATIONS = frozenset(
    "jr sr junior senior ii iii iv v phd md dds mba esq kc qc mp mbe obe cbe".split()  # noqa: SIM905 - a list of words is read as words
)
_MOST_WORDS_OF_A_PART = 3

_ABBREVIATIONS = {
    "assn": "association",
    "assoc": "association",
    "ave": "avenue",
    "bros": "brothers",
    "co": "company",
    "corp": "corporation",
    "dept": "department",
    "dr": "doctor",
    "govt": "government",
    "inc": "incorporated",
    "inst": "institute",
    "intl": "international",
    "jr": "junior",
    "ltd": "limited",
    "mfg": "manufacturing",
    "mt": "mount",
    "natl": "national",
    "prof": "professor",
    "sr": "senior",
    "univ": "university",
}

# Forms that cleanco lists apart or not at all, each one form in the law of its country.
_MORE_LEGAL_FORMS = (
    *("co ltd", "co limited", "company ltd", "company limited", "co inc", "co llc", "co kg"),
    *("private limited", "pvt limited", "pte limited", "pty limited", "pty"),
    *("aktiengesellschaft", "naamloze vennootschap", "kabushiki kaisha", "société anonyme", "societe anonyme"),
    *("limited liability company", "limited liability partnership", "joint stock company", "public limited company"),
    *("open joint stock company", "closed joint stock company", "public joint stock company", "public company limited"),
    *("private limited company", "proprietary limited", "limited partnership", "sendirian berhad"),
    *("jsc", "ojsc", "pjsc", "cjsc", "pcl", "kgaa", "gesellschaft mit beschränkter haftung", "gesellschaft mbh"),
    *("kommanditgesellschaft auf aktien", "kommanditgesellschaft", "naamlooze vennootschap", "besloten vennootschap"),
    *("société à responsabilité limitée", "société par actions simplifiée", "société en commandite"),
    *("sociedad anónima", "sociedad anónima de capital variable", "sa de cv", "sociedad limitada", "sociedade anônima"),
    *("società per azioni", "società a responsabilità limitata", "aktiebolag", "aktieselskab", "anpartsselskab"),
    *("aksjeselskap", "osakeyhtiö", "anonim şirketi", "spółka akcyjna", "spółka z ograniczoną odpowiedzialnością"),
)
# Listed by cleanco, but at the end of a name more often a word, a place or body, an era, month, degree or name.
_NOT_LEGAL_FORMS = frozenset(
    """
    at dat eg ok private pp ps sem vat
    et fa nl pt sd uk
    ad ba cpt da ei ij ik sal sep
    ans asa ent etat gbr ong pse psu sab sad scoop sha sia ska teo
    """.split()  # noqa: SIM905 - a list of words is read as words
)
# At the end of any name these can be nothing else; NV is no place unless a comma stands before it (Reno, NV).
_SURE_FORMS = frozenset(
    """
    inc incorporated corp corporation company ltd limited ltda llc llp lllp pllc plc gmbh kgaa srl sarl sprl bvba cvba
    jsc ojsc pjsc cjsc pcl pte pty pvt bhd eurl sasu ehf kft nyrt zrt uab vzw ooo oao pao ооо оао зао пао nv
    aktiebolag aktiengesellschaft aktieselskab aksjeselskap anpartsselskab kommanditgesellschaft osakeyhtiö
    """.split()  # noqa: SIM905 - as above
)
# With dots or blanks between the letters they are forms, without them units, places or words.
_SPELLED_FORMS = frozenset("nv bv sa spa srl sarl sprl sas ag oy snc llc llp plc gmbh".split())  # noqa: SIM905 - as above
_FORMS_OF_SINGLE_LETTERS = frozenset("as ks".split())  # noqa: SIM905 - A/S, K/S
_FORMS_THAT_ARE_WORDS = (["company"], ["corporation"], ["partnership"])
_STATES = frozenset("ab al as ca co ky ks la nv sc sd se sk".split())  # noqa: SIM905 - of America, and legal forms


@lru_cache(maxsize=2**17)  # A finalize asks for the same names several times.
def canonical_key(name: str) -> str:
    """Fold a name so that its usual spellings share a key.

    Names that differ in digits, word order or a generation (`Jr.`) keep different keys. Where nothing
    would be left (`!!!`), the key is the normalised name; a blank name has the key ``""``.
    """
    text = _without_article(name)
    words = _split_words(text)
    size = _measure_sure_form(words, text)
    return _join(words[:-size] if size else words, name)


@lru_cache(maxsize=2**15)
def full_key(name: str) -> str:
    """Fold a name as its canonical key does, but keep a legal form: in the name of a person there is none."""
    return _join(_split_words(_without_article(name)), name)


def thing_key(name: str) -> str:
    """Fold a name as its canonical key does, but keep a legal form that is a word: insurance company."""
    return full_key(name) if _split_words(_fold_characters(name))[-1:] in _FORMS_THAT_ARE_WORDS else canonical_key(name)


def _without_article(name: str) -> str:
    text, inverted = _straighten(_fold_characters(name))
    article = (_ARTICLE_OF_INVERTED if inverted else _ARTICLE).match(text)
    return text[article.end() :] if article else text


def _join(words: list[str], name: str) -> str:
    # A mark without a letter leaves a blank behind.
    return " ".join(_fold_accents(" ".join(_expand(words))).split()) or normalise_name(name)


def split_words(name: str) -> list[str]:
    """Give the words of a name as they are written, but for case, marks, inner dots and `Surname, Given`."""
    return _fold_accents(" ".join(_split_words(_straighten(_fold_characters(name))[0]))).split()


def _fold_characters(name: str) -> str:
    """Fold case and compatibility forms; 10² becomes 10 2, lest it be 102."""
    if name.isascii():
        return " ".join(name.casefold().split())
    spaced: list[str] = []
    for char in name.translate(_MARKS_OF_TRADE):
        if unicodedata.category(char) == "No" and spaced and spaced[-1][-1].isdigit():
            spaced.append(" ")
        spaced.append(char)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", "".join(spaced)).casefold())
    return " ".join("".join(char for char in folded if unicodedata.category(char) != "Cf").split())


def _straighten(text: str) -> tuple[str, bool]:
    """Turn `surname, given` (with a generation after it, or not) around; say whether it did."""
    if "," not in text:
        return text, False
    parts = [part.strip() for part in re.split(r",(?=\s)", text)]
    tail = ""
    if len(parts) == 3 and _is_generation(parts[2]):  # noqa: PLR2004 - surname, given name, generation
        tail = " " + parts.pop()
    if len(parts) != 2 or not all(map(_may_be_part_of_a_person, parts)):  # noqa: PLR2004 - the two parts
        return text, False
    surname, given = parts
    words = _split_words(given)
    if _is_generation(given) or tuple(words) in _legal_forms() or _measure_sure_form(words, given):
        return text, False
    return f"{given} {surname}{tail}", True


def _is_generation(part: str) -> bool:
    return " ".join(_split_words(part)) in _GENERATIONS


def _may_be_part_of_a_person(part: str) -> bool:
    words = part.split()
    return 0 < len(words) <= _MOST_WORDS_OF_A_PART and not any(
        word in {"&", "and"} or any(char.isdigit() for char in word) for word in words
    )


def _split_words(text: str) -> list[str]:
    ascii_only = text.isascii()
    if ascii_only and text.replace(" ", "").isalnum():
        return text.split()
    if "." in text:
        text = _INNER_DOT.sub("", _SPACED_INITIALS.sub(r"\1", text))
    text = _MARK_OF_A_GRADE.sub(lambda found: _STAR if found[0] == "*" else _MINUS, text)
    text = _DECIMAL_POINT.sub(_POINT, _SIGN.sub(_MINUS, text)).replace("&", " and ")
    if ascii_only and _KEPT_AFTER_WORD.isdisjoint(text):
        return text.translate(_BREAKS_IN_ASCII).split()
    kept: list[str] = []
    for char in text:
        if char in _APOSTROPHES:
            continue
        if char.isalnum() or (char in _KEPT_AFTER_WORD and kept and kept[-1].isalnum()):
            kept.append(char)
        elif ord(char) not in _KEPT_MARKS and unicodedata.category(char)[0] in "PZC":
            kept.append(" ")
        else:
            kept.append(char)
    return "".join(kept).translate(_KEPT_MARKS).split()


def _measure_sure_form(words: list[str], text: str) -> int:
    """Count the words at the end that are a legal form in whatever name (`N.V.`); accents count: José Sá is no S.A.

    Letters without dots are units, places and words, too: 100 kg, Kansas City, KS, Windows RT.
    """
    size = measure_legal_form(words)
    last = words[len(words) - size :]
    while size and not _is_sure(last, text):
        size = measure_legal_form(["", *last[1:]]) if size > 1 else 0
        last = words[len(words) - size :]
    return size


def _is_sure(form: Sequence[str], text: str) -> bool:
    if form == ["co"]:
        return text.endswith(" co.") and not text.endswith(", co.")
    if len(form) == 1:
        dotted = _INNER_DOT.search(text.rsplit(maxsplit=1)[-1]) and form[0] in _SPELLED_FORMS
        return bool(dotted) or (form[0] in _SURE_FORMS and not stands_as_a_state(text))
    if all(len(word) == 1 for word in form):
        return "".join(form) in _SPELLED_FORMS | _FORMS_OF_SINGLE_LETTERS
    return True


def stands_as_a_state(text: str) -> bool:
    """Say whether a name ends with a comma and two letters that say where: Paris, KY."""
    head, comma, tail = text.casefold().rpartition(", ")
    return bool(head and comma) and tail in _STATES


def measure_legal_form(words: Sequence[str]) -> int:
    """Count the words at the end that are one legal form (`N V` is N.V.); 0 where there is none.

    At least one word before the form is never counted. The words are folded in case, with their accents.
    """
    if not words or (len(words[-1]) > 1 and words[-1] not in _ends_of_legal_forms()):
        return 0
    forms = _legal_forms()
    for size in range(min(_longest_legal_form(), len(words) - 1), 0, -1):
        last = words[-size:]
        if tuple(last) in forms or (size > 1 and all(len(word) == 1 for word in last) and ("".join(last),) in forms):
            return size
    return 0


@cache
def _legal_forms() -> frozenset[tuple[str, ...]]:
    listed = [term for terms in (terms_by_type, terms_by_country) for group in terms.values() for term in group]
    forms = {tuple(_split_words(_fold_characters(term))) for term in (*listed, *_MORE_LEGAL_FORMS)}
    return frozenset(form for form in forms if form and " ".join(form) not in _NOT_LEGAL_FORMS)


@cache
def _ends_of_legal_forms() -> frozenset[str]:
    return frozenset(form[-1] for form in _legal_forms())


@cache
def _longest_legal_form() -> int:
    return max(map(len, _legal_forms()))


def _expand(words: list[str]) -> list[str]:
    expanded = [_ABBREVIATIONS.get(word, word) for word in words]
    # A saint stands before a name, a street after it.
    if len(words) > 1:
        if words[0] == "st":
            expanded[0] = "saint"
        if words[-1] == "st":
            expanded[-1] = "street"
    return expanded


def _fold_accents(text: str) -> str:
    """Take the marks off Latin letters only: й and が are letters of their own."""
    if text.isascii():
        return text
    kept: list[str] = []
    base = " "
    for char in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(char):
            base = char
        elif base < _LATIN_END:
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_STROKED)
