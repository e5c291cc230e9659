"""Words of the language that the rules of names know: lists of the language, none of them made from a corpus."""

from itertools import combinations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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

_CONTRASTS = (
    "north south east west central northern southern eastern western northeast northwest southeast southwest",
    "northeast northwest southeast southwest northeastern northwestern southeastern southwestern",
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
        *(("northeast", "northeastern"), ("northwest", "northwestern")),
        *(("southeast", "southeastern"), ("southwest", "southwestern")),
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

ENDINGS_OF_FAMILIES = _words(
    "son sson sen ston ton berg burg burgh stein baum mann man feld field bach ford wood ski ska sky skaya tzky tsky "
    "ov ova ev eva off in ina ich vich wicz ic enko chuk uk yan ian shvili dze ez es az as is os s er ers el ell "
    "kins ley ly well worth by low smith wright hurst ett et ard more house stone ingham "
    "bauer meier meyer maier mayer muller hofer huber haus heim dorf hardt hart strom gren qvist kvist lund dahl stra "
    "sma nen opoulos idis akis escu eanu auskas zadeh pour nejad kar kumar krishna krishnan raman swamy nathan "
    "ero aro era ara ano ana ina elli ella illo illa "
    "ini ino etti ello ullah ulla uddin allah dottir oglu zade ский ская ов ова ев ева ин ина ович евич енко ي"
)
"""Endings that many surnames share: they are no evidence, and another of them makes another name."""
BEGINNINGS_OF_FAMILIES = _words("ade olu abdul abdel abdal abdu abd abu al mac mc fitz van von saint ال عبدال")
"""Beginnings that many surnames share."""
_SURNAMES = """
adams allen allison alvarez andersen anderson armstrong arnold bailey baker barnes baron barron bates becker bell
bennett berg berger berry bishop black blake block boyd bradley brandt braun brooks brown bruce bryant burke burns
burton butler byrne campbell carlson carr carroll carter castillo castro chapman chavez clark clarke clayton cohen
cole coleman collins cooper costa cox craig crawford cruz cunningham curtis daniels davidson davies davis dawson dean
delgado diaz dixon doyle duncan dunn edwards ellis evans ferguson fernandes fernandez ferrari ferreira fischer
fisher fleming fletcher flores ford forster foster fowler fox francis franklin fraser frazer freeman fuchs fuller
garcia gardner garner garrett gibson gilbert gomez gonzales gonzalez gordon gracia graham grant graves gray green
greene griffin gross gupta gutierrez hall hamilton hansen hanson hardin harding hardy harper harris harrison hart
hartmann harvey haskins hawkins hayes haynes henderson henry hernandez herrera hicks hill hoffmann holland holmes
hoover hopkins horn horton howard howell hudson hughes hunt hunter ivanov jackson jacobs james jansen janssen jenkins
jennings jensen jimenez johansson johnson johnston jones jordan kaiser keller kelley kelly kennedy khan klein knight
koch krause kruger kumar lambert lane lang larsen larson lawrence lawson lehmann leonard lewis lindgren lloyd long
lopez lynch mahler maier marino marquez marsh marshall martin martinez mason matthews mayer mcdonald meier mendez
mendoza meyer miller mills mitchell molina montgomery moore morales moreno moretti morgan morris morrison muller
murphy murray myers nelson neumann newman nguyen nichols nielsen nilsson nowak obrien oconnor oliver olsen olson
ortega ortiz owens palmer parker parsons patel patterson payne pearson pedersen pereira perez perkins perry peters
petersen peterson petkovic petrov petrovic phillips pierce pope porter potter powell price prichard pritchard ramirez
ramos reed reid reyes reynolds ricci richards richardson richter riley rivera roberts robertson robinson rodrigues
rodriguez rogers romano romero rose ross rossi roth roussel ruiz russell russo ryan salazar sanchez sanders sandoval
santos saunders schmid schmidt schmitt schneider schreiber schroder schubert schultz schulz schumacher schuster
schwartz schwarz scott shaw silva simmonds simmons simon simons simpson sims singh sinha snyder soto spencer stanley
stein stephens stevens stevenson stewart stone stuart suarez sullivan svensson takada takeda tanaka taylor thomas
thompson thomson torres tucker turner vargas vasquez vazquez vega wagner walker wallace walsh walter walters ward
warner warren washington watkins watson watts weaver webb weber weiss welch wells werner west wheeler white wilkins
williams williamson willis wilson winkler wolf wolfe wolff wong wood woods wright young zimmermann
"""
SURNAMES = frozenset(_SURNAMES.split())
"""Surnames that are borne by many: two of them are two names, however alike they are."""

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

LONG_FORMS = (
    *("aktiengesellschaft", "kommanditgesellschaft", "incorporated", "corporation", "aktiebolag", "aktieselskab"),
    *("aksjeselskap", "anpartsselskab"),
)
"""Legal forms of one word that nobody takes for another where they are misspelt."""

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
