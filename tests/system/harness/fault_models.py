"""The models of no cost, made to take some time, so that faults strike work that is under way."""

import time

import tiny_models

EXTRACT_SECONDS = 0.15
EMBED_SECONDS = 0.05


def extract(text):
    """Take the time of a model."""
    time.sleep(EXTRACT_SECONDS)
    return tiny_models.extract(text)


def embed(texts):
    """Likewise."""
    time.sleep(EMBED_SECONDS)
    return tiny_models.embed(texts)
