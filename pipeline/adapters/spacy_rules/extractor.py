"""Composes names, references and relations to an `Extractor`."""

import re
from collections.abc import Sequence
from typing import Any

from pipeline.adapters.spacy_rules.concepts import find_concepts
from pipeline.adapters.spacy_rules.describe import find_names
from pipeline.adapters.spacy_rules.kinds import declared_type
from pipeline.adapters.spacy_rules.model import installed_versions, load_model
from pipeline.adapters.spacy_rules.names import Name
from pipeline.adapters.spacy_rules.references import References
from pipeline.adapters.spacy_rules.relations import read_links
from pipeline.ids import fingerprint
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import Ontology

RULES_VERSION = "1"
"""Raised with every change of the rules that may change a result."""

_WRAPPED = re.compile(r"(?<=[^\s.:!?|])\n(?=[a-z])")
_BATCH_TEXTS = 16
_DESCRIPTION_CHARS = 300
_FACT_CHARS = 600


class SpacyRulesExtractor:
    """Finds names and relations in English prose by spaCy's small model and rules; needs no network and no key.

    With `concepts`, noun phrases without capitals become entities too: more recall, less precision.
    Raises `ModelUnavailable` where spaCy or the model is not installed.
    """

    def __init__(self, *, concepts: bool = False) -> None:
        versions = installed_versions()
        self.fingerprint = fingerprint(("spacy-rules", RULES_VERSION, *versions, f"concepts={concepts}"))
        self._concepts = concepts

    def extract(self, texts: Sequence[str], ontology: Ontology) -> list[Extraction]:
        """Read passages of English; the result runs parallel to `texts`."""
        nlp = load_model()
        # The zone frees the words of these texts afterwards; a worker would grow by them for ever.
        with nlp.memory_zone():
            return [self._read(doc, ontology) for doc in nlp.pipe(map(_unwrap, texts), batch_size=_BATCH_TEXTS)]

    def _read(self, doc: Any, ontology: Ontology) -> Extraction:
        names = find_names(doc)
        references = References(doc, names)
        types = [declared_type(name.kind, name.noun, ontology) for name in names]
        mentions = [_mention(doc, name, label) for name, label in zip(names, types, strict=True)]
        relations: dict[tuple[str, str, str], Relation] = {}
        for link in read_links(doc, references):
            relation = Relation(
                source=names[link.source].text,
                source_type=types[link.source],
                target=names[link.target].text,
                target_type=types[link.target],
                type=link.type,
                description=_shorten(link.sentence.text, _FACT_CHARS),
                start=link.sentence.start_char,
                end=link.sentence.end_char,
            )
            relations.setdefault((names[link.source].key, link.type, names[link.target].key), relation)
        if self._concepts:
            found = find_concepts(doc, names)
            mentions += [_mention(doc, name, declared_type(name.kind, name.noun, ontology)) for name in found]
        return Extraction(tuple(mentions), tuple(relations.values()))


def _unwrap(text: str) -> str:
    """Join wrapped lines, which the model reads worse, keeping every offset."""
    return _WRAPPED.sub(" ", text)


def _mention(doc: Any, name: Name, label: str) -> Mention:
    span = doc[name.start : name.end]
    return Mention(
        name=name.text,
        type=label,
        start=span.start_char,
        end=span.end_char - (span.text.endswith(".") and not name.text.endswith(".")),
        description=_shorten(span.sent.text, _DESCRIPTION_CHARS),
        score=name.score,
    )


def _shorten(text: str, limit: int) -> str:
    """Cut a sentence at a word, with an ellipsis inside the limit."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rsplit(" ", 1)[0] + "…"
