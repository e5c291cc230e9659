"""Which ontology a name stands for: part of the wiring, so it names adapters. The settings read theirs by it, too."""

from pathlib import Path

from pipeline.adapters.turtle import read_turtle
from pipeline.ontology import DeclaredTypes, Ontology
from pipeline.ontology import read_addition as _read_addition
from pipeline.ontology import read_source as _read_source


def read_ontology(source: str | Path) -> Ontology:
    """Read a preset (`preset:business`), a Turtle, YAML or JSON file; raises `OntologyError` with all of its faults."""
    return _read_source(source, read_turtle)


def read_addition(source: str | Path) -> DeclaredTypes:
    """Read what is to be added to an ontology: a YAML or JSON file may name types that are declared there."""
    return _read_addition(source, read_turtle)
