"""Reads an ontology from OWL or RDFS in Turtle.

Classes are entity types, their superclasses parents, datatype properties the properties of their domains. Object
properties are relations from their domains to their ranges; those of one label are one relation type.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pipeline.errors import OntologyError
from pipeline.ontology import Ontology, ValueType
from pipeline.ontology.classes import GIVEN_PROPERTIES, upper_snake
from pipeline.ontology.conflicts import Problem
from pipeline.ontology.declared import ItemPath
from pipeline.ontology.files import read_bytes
from pipeline.ontology.labels import check_label
from pipeline.ontology.reading import finish, read_types

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

LARGEST_FILE = 20_000_000
_BASE = "urn:graphmill:file/"
"""What names without a base are relative to: the path of a file is nobody's business."""

_OWL, _RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
_RDF, _XSD = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_CLASSES = (f"{_OWL}Class", f"{_RDFS}Class")
_ANYTHING = frozenset({f"{_OWL}Thing", f"{_RDFS}Resource"})
_VALUES = {
    ValueType.STRING: "string normalizedString token language anyURI Name NCName NMTOKEN hexBinary base64Binary time "
    "duration dayTimeDuration yearMonthDuration",
    ValueType.INTEGER: "integer int long short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedInt unsignedLong unsignedShort unsignedByte",
    ValueType.FLOAT: "float double decimal",
    ValueType.BOOLEAN: "boolean",
    ValueType.DATE: "date dateTime dateTimeStamp gYear gYearMonth",
}
_DATATYPES = {f"{_XSD}{word}": kind for kind, words in _VALUES.items() for word in words.split()} | {
    f"{_RDFS}Literal": ValueType.STRING,
    f"{_RDF}langString": ValueType.STRING,
    f"{_RDF}PlainLiteral": ValueType.STRING,
    f"{_RDF}List": ValueType.LIST,
}
_ENGLISH = re.compile(r"en(-.*)?", re.IGNORECASE)
_NO_WORD = re.compile(r"[^\w]+")


def read_turtle(path: Path) -> Ontology:
    """Read an OWL or RDFS file in Turtle.

    Raises `OntologyError` whose message lists all faults of the file, each with the IRI of what is at fault, or the
    line where it is no Turtle; also where rdflib is not installed.
    """
    reading = _Reading(_parse(read_bytes(path, LARGEST_FILE), path.name))
    data = {"entity_types": reading.entities(), "relation_types": reading.relations()}
    return finish(read_types(data, reading.problems, reading.given), path.name)


def _parse(data: bytes, name: str) -> "Graph":
    try:
        from rdflib import Graph
        from rdflib.plugins.parsers.notation3 import BadSyntax
    except ImportError as error:
        raise OntologyError(f"{name} needs rdflib, which is not installed: pip install 'graphmill[rdf]'") from error
    try:
        # Without a line break at its end, a statement that is cut off is none of the parser's errors.
        return Graph().parse(data=f"{data.decode('utf-8-sig')}\n", format="turtle", publicID=_BASE)
    except UnicodeDecodeError as error:
        raise OntologyError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except BadSyntax as error:
        raise OntologyError(f"{name} line {error.lines + 1}: {error._why}") from error  # noqa: SLF001 - told nowhere else
    except RecursionError as error:
        raise OntologyError(f"{name} is nested too deeply") from error
    except (ValueError, AssertionError, TypeError, IndexError) as error:
        # What the parser's own checks let through.
        raise OntologyError(f"{name} is no Turtle that can be read: {error}") from error


@dataclass(slots=True)
class _Property:
    """A datatype property or object property, with what it joins."""

    iri: str
    domains: list[str]
    ranges: list[str]


@dataclass
class _Reading:
    """Turns statements into lists and mappings; what cannot be turned is a problem of its subject."""

    graph: "Graph"
    problems: list[Problem] = field(default_factory=list)
    given: dict[ItemPath, ItemPath] = field(default_factory=dict)

    def entities(self) -> list[dict[str, object]]:
        owned: dict[str, list[dict[str, object]]] = {iri: [] for iri in self._labels}
        for one in self._properties:
            if self._is_relation(one):
                continue
            fields = self._property_fields(one)
            if not one.domains:
                self._fault(one.iri, "is a property of no class; give it an rdfs:domain")
            for domain in one.domains if fields else ():
                if domain in owned:
                    place = ("entity_types", list(owned).index(domain), "properties", len(owned[domain]))
                    self.given[place] = (f"<{one.iri}>",)
                    owned[domain].append(fields)
                else:
                    self._fault(one.iri, f"has the domain <{domain}>, which is no class of this file")
        for nth, iri in enumerate(self._labels):
            self.given["entity_types", nth] = (f"<{iri}>",)
        return [
            {
                "label": label,
                "description": self._text(iri, f"{_RDFS}comment", f"{_SKOS}definition"),
                "synonyms": self._texts(iri, f"{_SKOS}altLabel"),
                "parents": self._parents(iri),
                "properties": owned[iri],
            }
            for iri, label in self._labels.items()
        ]

    def relations(self) -> list[dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for one in filter(self._is_relation, self._properties):
            label = self._allowed_label(one.iri) or upper_snake(_local_name(one.iri))
            if label not in found:
                self.given["relation_types", len(found)] = (f"<{one.iri}>",)
                found[label] = {"label": label, "description": "", "patterns": []}
            relation = found[label]
            relation["description"] = relation["description"] or self._text(one.iri, f"{_RDFS}comment")
            relation["patterns"] += [p for p in self._patterns(one) if p not in relation["patterns"]]
        return list(found.values())

    def _patterns(self, one: _Property) -> Iterator[list[str]]:
        """Pair domains with ranges; a property with neither may join anything."""
        if not one.domains and not one.ranges:
            return
        for ends, what in ((one.domains, "domain"), (one.ranges, "range")):
            if not ends:
                self._fault(one.iri, f"lacks an rdfs:{what}; give it one, or neither domain nor range")
            for end in ends:
                if end not in self._labels:
                    self._fault(one.iri, f"has the {what} <{end}>, which is no class of this file")
        for source, target in product(one.domains, one.ranges):
            if source in self._labels and target in self._labels:
                yield [self._labels[source], self._labels[target]]

    def _property_fields(self, one: _Property) -> dict[str, object]:
        name = _NO_WORD.sub("_", _local_name(one.iri)).strip("_")
        kinds = {_DATATYPES[end] for end in one.ranges if end in _DATATYPES}
        if unknown := [end for end in one.ranges if end not in _DATATYPES]:
            self._fault(one.iri, f"has the range <{unknown[0]}>, which is no type of values that is known")
        elif len(kinds) > 1:
            self._fault(one.iri, f"has values of several types: {', '.join(sorted(kinds))}")
        elif name not in GIVEN_PROPERTIES:
            kind = kinds.pop() if kinds else ValueType.STRING
            description = self._text(one.iri, f"{_RDFS}comment", f"{_SKOS}definition")
            return {"name": name, "type": kind, "description": description}
        return {}

    @cached_property
    def _labels(self) -> dict[str, str]:
        """The label of each class, by IRI, in the order of the file."""
        classes = dict.fromkeys(iri for kind in _CLASSES for iri in self._subjects(kind) if iri not in _ANYTHING)
        return {iri: self._allowed_label(iri) or _local_name(iri) for iri in classes}

    @cached_property
    def _properties(self) -> list[_Property]:
        kinds = (f"{_OWL}DatatypeProperty", f"{_OWL}ObjectProperty", f"{_RDF}Property")
        iris = dict.fromkeys(iri for kind in kinds for iri in self._subjects(kind))
        return [_Property(iri, self._ends(iri, "domain"), self._ends(iri, "range")) for iri in iris]

    def _is_relation(self, one: _Property) -> bool:
        """Tell by what it is declared as, and a bare rdf:Property by what it leads to."""
        kinds = {str(kind) for kind in self._objects(one.iri, f"{_RDF}type")}
        if f"{_OWL}DatatypeProperty" in kinds:
            return False
        return f"{_OWL}ObjectProperty" in kinds or any(end not in _DATATYPES for end in one.ranges)

    def _parents(self, iri: str) -> list[str]:
        """Give superclasses with a name; one of another file is an extra label."""
        above = dict.fromkeys(str(node) for node in self._objects(iri, f"{_RDFS}subClassOf") if _is_named(node))
        # A class is a subclass of itself by RDFS, and some files say so.
        return [self._labels.get(one) or _local_name(one) for one in above if one != iri and one not in _ANYTHING]

    def _ends(self, iri: str, what: str) -> list[str]:
        """Give the IRIs of a domain or range, those of a union apart; what may be anything is none."""
        found: dict[str, None] = {}
        for node in self._objects(iri, f"{_RDFS}{what}"):
            if _is_named(node):
                found[str(node)] = None
                continue
            members = [member for head in self._objects(node, f"{_OWL}unionOf") for member in self._list(head)]
            if not members or not all(_is_named(member) for member in members):
                self._fault(iri, f"has an rdfs:{what} that is neither a class, a type of values, nor a union of them")
            found |= dict.fromkeys(str(member) for member in members if _is_named(member))
        return [end for end in found if end not in _ANYTHING]

    def _list(self, head: "Node") -> Iterable["Node"]:
        try:
            return list(self.graph.items(head))
        except ValueError:  # its list runs in a circle
            return []

    def _allowed_label(self, iri: str) -> str:
        """Give the rdfs:label if it can be one here, else ''."""
        try:
            return check_label(self._text(iri, f"{_RDFS}label"))
        except ValueError:
            return ""

    def _text(self, iri: str, *predicates: str) -> str:
        """Give the text that is said of something, in English or no language where there is a choice."""
        for predicate in predicates:
            said = [node for node in self._objects(iri, predicate) if not _is_named(node)]
            plain = [node for node in said if not getattr(node, "language", None)]
            english = [node for node in said if _ENGLISH.fullmatch(getattr(node, "language", None) or "")]
            if chosen := sorted(map(str, plain or english or said)):
                return chosen[0].strip()
        return ""

    def _texts(self, iri: str, predicate: str) -> list[str]:
        return list(dict.fromkeys(str(node) for node in self._objects(iri, predicate) if not _is_named(node)))

    def _subjects(self, kind: str) -> list[str]:
        from rdflib import RDF, URIRef

        return [str(node) for node in self.graph.subjects(RDF.type, URIRef(kind)) if _is_named(node)]

    def _objects(self, subject: "Node | str", predicate: str) -> list["Node"]:
        from rdflib import URIRef
        from rdflib.term import Node

        node = subject if isinstance(subject, Node) else URIRef(subject)
        return list(self.graph.objects(node, URIRef(predicate)))

    def _fault(self, iri: str, message: str) -> None:
        self.problems.append(((f"<{iri}>",), message))


def _is_named(node: "Node") -> bool:
    from rdflib import URIRef

    return isinstance(node, URIRef)


def _local_name(iri: str) -> str:
    """Give the last part of an IRI."""
    return unquote(re.split("[#/:]", iri.rstrip("#/"))[-1])
