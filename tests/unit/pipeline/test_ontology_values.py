"""Ontologies of Python values: mappings and pydantic classes."""

from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from pipeline.errors import OntologyError
from pipeline.ontology import Ontology, ontology_of, preset, preset_names
from pipeline.ontology.classes import upper_snake
from pipeline.ontology.exports.plain import as_mapping
from pipeline.ontology.files import parse_ontology


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Agent(BaseModel):
    """Somebody who acts.

    This is not part of it.
    """

    name: str
    email: str = Field(default="", description="Where to\n write to.")


class Company(Agent):
    size: Size | None = None
    founded: date | None = None
    revenue: float | int = 0
    listed: bool = False
    kind: Literal["private", "public"] = "private"
    tags: list[str] = []
    partners: list["Company"] = Field(default=[], description="Who works with it.")


class Person(Agent):
    """A human being."""

    born: datetime | None = None
    age: Annotated[int, Field(ge=0)] | None = None
    worksFor: list[Company] | None = None  # noqa: N815 - as some write it
    knows: Optional["Person"] = None
    likes: tuple["Person | Company", ...] = ()


def test_classes_are_entity_types_with_properties_and_relations():
    ontology = ontology_of([Agent, Company, Person])
    assert as_mapping(ontology) == {
        "entity_types": [
            {
                "label": "Agent",
                "description": "Somebody who acts.",
                "properties": [{"name": "email", "type": "STRING", "description": "Where to write to."}],
            },
            {
                "label": "Company",
                "parents": ["Agent"],
                "properties": [
                    {"name": "size", "type": "STRING"},
                    {"name": "founded", "type": "DATE"},
                    {"name": "revenue", "type": "FLOAT"},
                    {"name": "listed", "type": "BOOLEAN"},
                    {"name": "kind", "type": "STRING"},
                    {"name": "tags", "type": "LIST"},
                ],
            },
            {
                "label": "Person",
                "description": "A human being.",
                "parents": ["Agent"],
                "properties": [{"name": "born", "type": "DATE"}, {"name": "age", "type": "INTEGER"}],
            },
        ],
        "relation_types": [
            {"label": "PARTNERS", "description": "Who works with it.", "patterns": [["Company", "Company"]]},
            {"label": "WORKS_FOR", "patterns": [["Person", "Company"]]},
            {"label": "KNOWS", "patterns": [["Person", "Person"]]},
            {"label": "LIKES", "patterns": [["Person", "Person"], ["Person", "Company"]]},
        ],
    }
    assert [one.name for one in ontology.properties_of("Person")] == ["born", "age", "email"]


def test_a_base_class_that_is_not_given_is_an_extra_label_and_its_fields_are_own_properties():
    (company,) = ontology_of([Company]).entity_types
    assert company.parents == ("Agent",)
    assert company.properties[0].name == "email"


def test_all_faults_of_classes_are_reported_by_class_and_field():
    class Order(BaseModel):
        id: int
        price: Decimal
        value: int | str
        buyer: Person
        chunk: dict[str, int]
        weight: float

    class Chunk(BaseModel):
        text: str

    with pytest.raises(OntologyError) as raised:
        ontology_of([Order, Chunk])
    message = str(raised.value)
    for fault in (
        "Order.id.name: property name 'id' is reserved",
        "Order.price: is of the type Decimal;",
        "Order.value: is of several types, int | str",
        "Order.buyer: names the class Person, which is not among the given ones",
        "Order.chunk: is of the type dict",
        "Chunk.label: label 'Chunk' is reserved",
    ):
        assert fault in message.replace("entity_types[0].", "Order.")
    assert "weight" not in message


def test_a_class_that_names_one_that_is_not_there_is_refused():
    class Lonely(BaseModel):
        friend: "Nobody"  # noqa: F821 - that is the point

    with pytest.raises(OntologyError, match="Lonely: names 'Nobody'"):
        ontology_of([Lonely])


def test_two_classes_of_one_name_are_refused():
    other = type("Person", (BaseModel,), {"__annotations__": {}})
    with pytest.raises(OntologyError, match=r"Person\.label: label 'Person' repeats 'Person'"):
        ontology_of([Agent, Company, Person, other])


@pytest.mark.parametrize("value", [[], {}, [int], ["Person"], [Agent, None], {"entity_types": []}, {1: []}])
def test_values_that_are_no_ontology_are_refused(value):
    with pytest.raises(OntologyError):
        ontology_of(value)


@pytest.mark.parametrize("name", preset_names())
def test_a_mapping_of_an_ontology_gives_it_again(name):
    assert ontology_of(as_mapping(preset(name))) == preset(name)


def test_faults_of_a_mapping_are_reported_by_path_and_odd_values_do_no_harm():
    loop = {"label": "A"}
    loop["properties"] = [loop]
    with pytest.raises(OntologyError) as raised:
        ontology_of(
            {
                "entities": (loop, {"label": 5}, None, {"label": "B", "parents": "A"}),
                "relations": [{"label": "R", "patterns": [["A"]]}],
            }
        )
    message = str(raised.value)
    for fault in (
        "entities[0].properties[0].name: is missing",
        "entities[1].label: must be text",
        "entities[2]: must be a label",
        "entities[3].parents: must be a list",
        "relations[0].patterns[0]: a pattern is a list of two labels",
    ):
        assert fault in message


def test_an_ontology_of_a_mapping_may_be_partly_of_models():
    assert ontology_of({"entity_types": ["Person"]}) == Ontology(entity_types=({"label": "Person"},))


@pytest.mark.parametrize(
    ("name", "label"),
    [
        *(("works_for", "WORKS_FOR"), ("worksFor", "WORKS_FOR"), ("HTTPServer", "HTTP_SERVER"), ("isA", "IS_A")),
        *(("has part", "HAS_PART"), ("partOf2", "PART_OF2"), ("größerAls", "GRÖSSER_ALS"), ("__x__", "X")),
    ],
)
def test_names_become_relation_types(name, label):
    assert upper_snake(name) == label


def test_the_examples_of_the_page_are_read():
    page = (Path(__file__).parents[3] / "docs" / "ontology.md").read_text("utf-8")

    def example(title):
        section = page.split(f"\n## {title}\n")[1].split("\n## ")[0]
        return "\n".join(line.removeprefix("    ") for line in section.split("\n") if line.startswith("    "))

    ontology = parse_ontology(example("The file").encode(), "o.yaml")
    assert [one.name for one in ontology.properties_of("Company")] == ["founded", "staff"]
    names: dict[str, object] = {"__name__": __name__}
    exec(example("pydantic classes"), names)
    assert names["ontology"].relation_types[0].patterns == (("Person", "Company"),)
