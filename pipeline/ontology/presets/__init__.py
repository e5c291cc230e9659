"""Ontologies that come along, by name."""

from importlib.resources import files

from pipeline.errors import OntologyError
from pipeline.ontology.default import DEFAULT_ONTOLOGY
from pipeline.ontology.files import parse_ontology
from pipeline.ontology.types import Ontology

_SUFFIX = ".yaml"


def preset_names() -> list[str]:
    """Name all presets."""
    found = (file.name for file in files(__name__).iterdir())
    return ["default", *sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))]


def preset(name: str) -> Ontology:
    """Give a preset; raises `OntologyError` that names all where there is none so called."""
    if name not in preset_names():
        raise OntologyError(f"There is no preset {name!r}. The presets are {', '.join(preset_names())}.")
    if name == "default":
        return DEFAULT_ONTOLOGY
    file = f"{name}{_SUFFIX}"
    return parse_ontology(files(__name__).joinpath(file).read_bytes(), file)
