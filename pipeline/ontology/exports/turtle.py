"""Spells what OWL and SHACL exports are made of in Turtle: IRIs, texts, statements."""

from collections.abc import Iterable
from urllib.parse import quote

from pipeline.ontology.declared import ValueType

NAMESPACE = "urn:graphmill:"
PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
DATATYPES = {
    ValueType.STRING: "xsd:string",
    ValueType.INTEGER: "xsd:integer",
    ValueType.FLOAT: "xsd:double",
    ValueType.BOOLEAN: "xsd:boolean",
    ValueType.DATE: "xsd:date",
    ValueType.LIST: "rdf:List",
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FIRST_PRINTABLE = " "


def iri_of(*parts: str | int) -> str:
    """Name a thing by what it is and where: `entity`, a label, a property; its local name is the last part."""
    return NAMESPACE + "/".join(quote(str(part), safe="") for part in parts)


def reference(iri: str) -> str:
    """Spell an IRI in a statement."""
    return f"<{iri}>"


def literal(text: str) -> str:
    """Spell a text in a statement."""
    return '"' + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04X}" if c < _FIRST_PRINTABLE else c) for c in text) + '"'


def statement(subject: str, facts: Iterable[str]) -> str:
    """Spell all that is said of one subject."""
    return f"{subject}\n    " + " ;\n    ".join(facts) + " .\n"


def document(prefixes: Iterable[str], statements: Iterable[str]) -> str:
    """Put a file together."""
    head = "".join(f"@prefix {name}: <{PREFIXES[name]}> .\n" for name in prefixes)
    return "\n".join([head, *statements])
