"""The models of no cost, which also find names of one word in capitals, and initials."""

import re

import tiny_models

tiny_models.NAME = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")
extract, embed = tiny_models.extract, tiny_models.embed
