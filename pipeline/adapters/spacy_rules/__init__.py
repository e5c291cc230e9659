"""The default extractor: spaCy's small English model and rules over its parse."""

from pipeline.adapters.spacy_rules.extractor import SpacyRulesExtractor

__all__ = ["SpacyRulesExtractor"]
