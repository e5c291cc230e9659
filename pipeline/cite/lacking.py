"""Recognises clauses that say the evidence lacks something: they need no citation.

Only clauses about the evidence, or about a look-up that failed, count. "Globex does not provide pensions"
speaks of the world and needs a citation like any other claim.
"""

import re

_QUALITIES = r"(?:(?:retrieved|provided|available|given|cited|current|collected|supplied|knowledge|source|search)\s+)"
_SOURCE = (
    r"(?:graph|base|evidence|context|documents?|passages?|sources?|texts?|corpus|database|data|records?|search(?:es)?"
    r"|results?|retrieval|look-?ups?|query|excerpts?|material|information|facts)"
)
_SOURCES = rf"(?:(?:the|this|these|those|our|my|any|all)\s+)?{_QUALITIES}{{0,3}}{_SOURCE}"
_LEAD = (
    r"\A\W{0,5}(?:(?:and|also|unfortunately|sorry|so|still|thus|therefore|"
    rf"(?:based\s+on|according\s+to|from|in)\s+{_SOURCES})\b[,\s]{{1,5}}){{0,2}}"
)
_NOT = r"(?:(?:do|does|did|can|could)(?:\s+not|n['’]t)|cannot|can['’]t|never)"
_SAY = (
    r"(?:say|state|mention|contain|include|name|specify|provide|give|tell|show|indicate|describe|identify|list|record"
    r"|cover|reveal|report|have|hold|return|find|answer|explain|address|disclose|support|confirm)"
)
_HAS = (
    r"(?:has|have|had|contains?|holds?|gives?|offers?|provides?|includes?|shows?|lists?|says?|returned|found|yielded)"
)
_SAID = (
    r"(?:mentioned|stated|found|specified|named|given|described|included|listed|recorded|covered|provided|available)"
)
_ABOUT = r"(?:\s+(?:for|about|on)\s+[^,;.]{1,80}?)?"
_THERE = r"(?:there\s+(?:is|are|was|were)\s+)?"
_KNOWLEDGE = r"(?:evidence|information|mention|details?|data|facts?)"
_WAS = r"(?:is|are|was|were|has\s+been|have\s+been|could\s+be)"
_FOUND = r"(?:found|returned|retrieved|available|match(?:es|ed)?|mentions?|mentioned|says?|states?)"
_UNABLE_TO = r"(?:am|was|are|were)\s+(?:unable|not\s+able)\s+to"
_LEARN = r"(?:find|locate|see|determine|tell|confirm|verify|answer|establish|retrieve)"

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # The graph does not say ...; the search for X found nothing; the sources are silent.
        rf"{_LEAD}{_SOURCES}{_ABOUT}\s+{_NOT}\s+(?:\w+ly\s+)?{_SAY}\b",
        rf"{_LEAD}{_SOURCES}{_ABOUT}\s+{_HAS}\s+(?:no|nothing)\b",
        rf"{_LEAD}{_SOURCES}{_ABOUT}\s+(?:failed\b|(?:is|are|was|were)\s+(?:silent|insufficient|empty|not\s+enough)\b)",
        rf"{_LEAD}(?:none|neither)\s+of\s+{_SOURCES}\s+\w+",
        # There is no information on ...; no passages were found; nothing in the graph ...
        rf"{_LEAD}{_THERE}no\s+{_KNOWLEDGE}(?:\s+(?:on|about|that|for|regarding|of|in|is|are|was|were|could)\b|\W*\Z)",
        rf"{_LEAD}no\s+(?:\w+\s+){{0,2}}{_SOURCE}\s+(?:{_WAS}\s+)?{_FOUND}\b",
        rf"{_LEAD}nothing\s+(?:in\s+{_SOURCES}|(?:about\s+[^,;.]{{1,80}}?\s+)?(?:is|was|could\s+be)\s+(?:found|said|stated))\b",
        # I could not find ...; we found no ...
        rf"{_LEAD}(?:i|we)\s+(?:{_NOT}|{_UNABLE_TO})\s+{_LEARN}\b",
        rf"{_LEAD}(?:i|we)\s+(?:found|see|have)\s+(?:no|nothing)\b",
        # ... is not mentioned in the evidence; ... is not stated.
        rf"\b(?:not|n['’]t|nowhere)\s+{_SAID}\s+(?:anywhere\s+)?(?:in|by)\s+{_SOURCES}\b",
        r"\b(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:stated|mentioned|specified)\W*\Z",
    )
)


def says_evidence_lacks(clause: str) -> bool:
    """Say whether the clause reports that the evidence is silent or a look-up failed."""
    spaced_once = " ".join(clause.split())
    return any(pattern.search(spaced_once) for pattern in _PATTERNS)
