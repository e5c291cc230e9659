"""The types of graphs for which none are configured."""

from pipeline.ontology.declared import EntityType
from pipeline.ontology.types import Ontology

# The open-domain types of the GraphRAG SDK; the descriptions and synonyms are ours.
DEFAULT_ONTOLOGY = Ontology(
    entity_types=(
        EntityType(label="Person", description="A human being, real or fictional.", synonyms=("people", "human")),
        EntityType(
            label="Organization",
            description="A company, institution, agency, party, team, band or other group with a name.",
            synonyms=("organisation", "company", "institution", "agency"),
        ),
        EntityType(label="Technology", description="A technology, programming language, system or standard."),
        EntityType(
            label="Product",
            description="Something made: a device, vehicle, software product, book, film, song or other work.",
            synonyms=("artifact", "work of art"),
        ),
        EntityType(
            label="Location",
            description="A country, city, region, landscape, building or other place.",
            synonyms=("place", "geopolitical entity"),
        ),
        EntityType(label="Date", description="A day, month, year or period."),
        EntityType(label="Event", description="A named happening: a battle, award, conference, season, disaster."),
        EntityType(label="Concept", description="A named idea, field, language, belief, nationality or people."),
        EntityType(label="Law", description="A law, treaty, court case or regulation.", synonyms=("regulation",)),
        EntityType(label="Dataset", description="A named collection of data.", synonyms=("corpus",)),
        EntityType(label="Method", description="A named method, algorithm, procedure or protocol."),
    )
)
