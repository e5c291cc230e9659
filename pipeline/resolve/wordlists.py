"""Words of the language that the rules of names know: lists of the language, none of them made from a corpus."""

from itertools import combinations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSON_LABELS = _words(
    "person per people human individual man woman author writer poet researcher scientist politician artist "
    "musician musicalartist actor actress character employee patient player athlete director"
)
TITLES = _words(
    "mr mrs ms miss mister doctor professor sir dame lord lady madam president chancellor senator representative "
    "governor mayor minister ambassador judge justice general colonel major captain lieutenant sergeant admiral "
    "king queen prince princess emperor pope bishop archbishop cardinal saint reverend father sister rabbi imam "
    "mullah mulla maulana haji hajji hadji sayyid syed ustad shri sri pandit "
    "sheikh shaikh herr frau monsieur madame señor senor señora senora präsident prasident dr prof hon honourable"
)
HONOURS = _words("phd md dds mba esq esquire kc qc mp mbe obe cbe")
MALE_TITLES = _words("mr mister sir lord king prince emperor herr monsieur señor senor father")
FEMALE_TITLES = _words("mrs ms miss dame lady madam queen princess empress frau madame señora senora sister")
GENERATIONS = {"jr": 2, "junior": 2, "sr": 1, "senior": 1, "ii": 2, "iii": 3, "iv": 4}
"""Jr. and II are both the second; a name without one is told apart from either."""

NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(
        (
            *("zero", "one first", "two second", "three third", "four fourth", "five fifth", "six sixth"),
            *("seven seventh", "eight eighth", "nine ninth", "ten tenth", "eleven eleventh", "twelve twelfth"),
        )
    )
    for word in words.split()
}
ROMAN_NUMBERS = {
    roman: str(number)
    for number, roman in enumerate(
        "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(),  # noqa: SIM905
        start=1,
    )
}

_CONTRASTS = (
    "north south east west central northern southern eastern western northeast northwest southeast southwest",
    "upper lower middle",
    "inner outer",
    "old new",
    "greater lesser",
    "great little",
    "big small",
    "left right",
    "men women boys girls mens womens",
    "male female",
    "import export imports exports",
    "internal external",
    "domestic foreign international national",
    "public private",
    "primary secondary tertiary",
    "summer winter spring autumn",
    "spring summer autumn fall winter",
    "black white red green blue yellow",
    "life property",
    "pre post",
    "major minor",
    "positive negative",
    "january february march april may june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
)
_SAME_CONTRAST = frozenset(
    frozenset(pair)
    for pair in (
        *(("north", "northern"), ("south", "southern"), ("east", "eastern"), ("west", "western")),
        *(("men", "mens"), ("women", "womens"), ("men", "boys"), ("women", "girls"), ("mens", "boys")),
        *(("womens", "girls"), ("import", "imports"), ("export", "exports"), ("autumn", "fall")),
    )
)
OPPOSITES = frozenset(frozenset(pair) for line in _CONTRASTS for pair in combinations(line.split(), 2)) - _SAME_CONTRAST
"""Pairs of words that tell two things apart whose names are otherwise the same."""

PREFIXES = (
    *(("hyper", "hypo"), ("inter", "intra"), ("ante", "anti"), ("pre", "pro"), ("ab", "ad"), ("af", "ef")),
    *(("macro", "micro"), ("im", "ex"), ("in", "ex"), ("em", "im"), ("under", "over"), ("mono", "bi"), ("bi", "di")),
)
SUFFIXES = (
    *(("ate", "ite"), ("ate", "ide"), ("ite", "ide"), ("ic", "ous"), ("ane", "ene"), ("ene", "yne"), ("ane", "yne")),
    *(("ase", "ose"), ("ine", "ene"), ("ine", "ane"), ("al", "an"), ("ism", "ist"), ("er", "or"), ("er", "ee")),
)
"""Beginnings and endings that make two words of a stem, however alike these look."""

ABBREVIATIONS = {
    "acad": "academy",
    "admin": "administration",
    "amer": "american",
    "biol": "biology",
    "cent": "central",
    "chem": "chemical",
    "cie": "compagnie",
    "coll": "college",
    "comm": "commission",
    "dev": "development",
    "dist": "district",
    "div": "division",
    "ed": "education",
    "elec": "electric",
    "elect": "electronics",
    "eng": "engineering",
    "engrg": "engineering",
    "environ": "environmental",
    "fdn": "foundation",
    "fed": "federal",
    "fin": "financial",
    "gen": "general",
    "grp": "group",
    "hldgs": "holdings",
    "hosp": "hospital",
    "ind": "industries",
    "inds": "industries",
    "ins": "insurance",
    "int": "international",
    "lab": "laboratory",
    "labs": "laboratories",
    "med": "medical",
    "mgmt": "management",
    "min": "ministry",
    "nat": "national",
    "pharm": "pharmaceuticals",
    "pharma": "pharmaceuticals",
    "prod": "products",
    "publ": "publishing",
    "res": "research",
    "sci": "science",
    "soc": "society",
    "sys": "systems",
    "svc": "service",
    "svcs": "services",
    "tech": "technology",
    "technol": "technology",
    "telecom": "telecommunications",
    "transp": "transport",
}

LEADING_FORMS = tuple(
    tuple(form.split())
    for form in (
        *("jsc", "ojsc", "pjsc", "cjsc", "pao", "oao", "ooo", "zao", "ооо", "оао", "зао", "пао", "llc", "srl", "sarl"),
        *("gmbh", "nv", "bv", "pt", "spa", "limited liability company", "joint stock company"),
        *("public joint stock company", "open joint stock company", "closed joint stock company"),
        *("общество с ограниченной ответственностью", "акционерное общество", "публичное акционерное общество"),
        *("открытое акционерное общество", "закрытое акционерное общество", "societatea cu raspundere limitata"),
        *("sociedad anonima", "societe anonyme", "perseroan terbatas", "kabushiki kaisha"),
        *("obshchestvo s ogranichennoi otvetstvennostyu", "obshchestvo s ogranichennoy otvetstvennostyu"),
        *("aktsionernoe obshchestvo", "otkrytoe aktsionernoe obshchestvo", "zakrytoe aktsionernoe obshchestvo"),
        *("publichnoe aktsionernoe obshchestvo", "ao"),
    )
)
"""Legal forms that stand before a name where the law or the language has it so; longer ones win."""

# What a name that is written in full is called for short; the first word of a line is the full one.
_SHORT_NAMES = """
alexander alex sasha
alexandra alex sandra sasha
andrew andy drew
anthony tony
barbara barb
benjamin ben benny
catherine cathy kate katie
charles charlie chuck
christopher chris
daniel dan danny
david dave
deborah debbie deb
donald don donnie
dorothy dot dottie
edward ed eddie ted ned
elizabeth liz beth betty eliza lizzie
eugene gene
francis frank
frederick fred freddie
gerald gerry jerry
gregory greg
harold hal harry
henry harry hank
james jim jimmy jamie
jeffrey jeff
jennifer jen jenny
john jack johnny
jonathan jon
joseph joe joey
joshua josh
judith judy
katherine kate kathy katie
kenneth ken
lawrence larry
leonard len lenny
margaret maggie meg peggy
matthew matt
michael mike mick
mikhail misha
nathaniel nathan nate nat
nicholas nick
pamela pam
patricia pat patty trish
patrick pat paddy
peter pete
philip phil
raymond ray
rebecca becky
richard rick dick rich
robert bob bobby rob robbie bert
ronald ron ronnie
samuel sam sammy
sarah sally
stanley stan
stephen steve
steven steve
susan sue susie
theodore ted teddy theo
thomas tom tommy
timothy tim
victoria vicky
vincent vince
vladimir volodya vova
walter walt
wilhelm willi willy
william bill billy will willie
zachary zach zack
"""
SHORT_NAMES = frozenset(
    (short, full) for line in _SHORT_NAMES.split("\n") if line for full, *shorts in [line.split()] for short in shorts
)

_SPELLINGS = """
mohammed mohammad muhammad mohamed mohamad muhammed muhamad
ahmed ahmad
hussein hussain husain husayn hussayn hossein
yusuf yousef youssef yousuf
ibrahim ebrahim
omar umar
khalid khaled
abdullah abdallah
abdul abdel abdal
rahman rehman
bin ibn ben
alexander aleksandr alexandr aleksander
sergei sergey serge sergej sergiy
yuri yury yuriy iurii jurij
dmitri dmitry dmitriy dimitri
yevgeny evgeny evgenii evgeniy yevgeniy
alexei alexey aleksei aleksey
nikolai nikolay nikolaj
"""
SPELLINGS = {word: words[0] for words in map(str.split, _SPELLINGS.strip().split("\n")) for word in words}
"""Spellings of common names that come from other scripts, each with the first of its kind."""
ROMANISED = str.maketrans(
    dict(zip("абвгґдезиійїклмнопрстуфхыэ", "abvggdeziiiiklmnoprstufhie", strict=True))
    | {"ё": "e", "є": "e", "ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ь": "", "ю": "yu"}
    | {"я": "ya", "ў": "u", "ђ": "dj", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz"}
    | dict(zip("αβγδεζηικλμνξοπρσςτυφωάέήίόύώ", "avgdeziiklmnxoprsstifoaeiioio", strict=True))
    | {"θ": "th", "χ": "ch", "ψ": "ps"}
)
"""Letters of Cyrillic and Greek as they are usually written with Latin ones."""

PARTICLES = _words(
    "of the and for in on at by with to de du la le les del di da von van der den und et y e bin ibn ben"
)
"""Words that say how the words beside them belong together: with one, another order is another meaning."""
IGNORED = _words("the and und et och og + of for de du des der für fur")
"""Words that a name may have or lack."""
IGNORED_IN_PEOPLE = _words("al el ul ur bin ibn ben van von der den de da di del la")
"""Such words of names of people."""

UNCHANGING = {
    name: concept
    for concept, names in {
        "birth": "born birth_date birthdate date_of_birth birthday birth_year year_of_birth dob",
        "death": "died death_date date_of_death death_year year_of_death",
        "birthplace": "birthplace birth_place place_of_birth born_in city_of_birth country_of_birth",
        "founding": "founded founded_in founding_date date_founded founding_year year_founded established "
        "established_in date_of_establishment inception date_of_incorporation incorporation_date",
    }.items()
    for name in names.split()
}
"""Properties whose value never changes, by their names, and what they are about."""
IDENTIFIERS = _words(
    "isbn issn doi isin lei cik duns cusip orcid iban bic vin ssn imo ein itin ticker wikidata wikidata_id passport "
    "passport_number tax_id tax_number vat_number registration_number company_number national_id serial_number "
    "licence_number license_number"
)
"""Properties that name one thing among all of their kind."""
