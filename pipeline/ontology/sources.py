"""Finds the ontology that a name stands for: a preset, an OWL or RDFS file, or a YAML or JSON file."""

from collections.abc import Callable
from pathlib import Path

from pipeline.ontology.declared import DeclaredTypes
from pipeline.ontology.files import load_addition, load_ontology
from pipeline.ontology.presets import preset
from pipeline.ontology.types import Ontology

PRESET = "preset:"
_TURTLE = ".ttl"

type TurtleReader = Callable[[Path], Ontology]
"""Reads an OWL or RDFS file in Turtle; raises `OntologyError`."""


def is_preset(source: str | Path) -> bool:
    """Tell a preset's name, `preset:business`, from a file's."""
    return str(source).startswith(PRESET)


def read_source(source: str | Path, read_turtle: TurtleReader) -> Ontology:
    """Read the ontology that a name stands for; raises `OntologyError` with all of its faults."""
    if is_preset(source):
        return preset(str(source).removeprefix(PRESET))
    path = Path(source)
    return read_turtle(path) if path.suffix.lower() == _TURTLE else load_ontology(path)


def read_addition(source: str | Path, read_turtle: TurtleReader) -> DeclaredTypes:
    """Read what is to be added to an ontology: as `read_source`, but a YAML or JSON file may be a part of one."""
    if is_preset(source) or Path(source).suffix.lower() == _TURTLE:
        return read_source(source, read_turtle)
    return load_addition(Path(source))
