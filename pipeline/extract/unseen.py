"""Characters that a reader does not see: texts may hide in them what is not to be taken for ours."""

UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
"""Inside the brackets of a pattern: white space, control characters, joiners, selectors, marks of direction, tags."""
