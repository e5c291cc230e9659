"""Prompts about sets: what they tell of each member, and that they hold whole sets within a limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.chunk import estimate_tokens
from pipeline.ontology import EntityType, Ontology, PropertyType
from pipeline.resolve.packing import MOST_TOKENS, flatten, instructions, pack
from pipeline.resolve.values import Named

PERSON = Ontology(entity_types=(EntityType(label="Person", properties=(PropertyType(name="role"),)),))
TEXTS = st.text(st.sampled_from('ab |:\n\r"\\\u2028\u200bé市'), max_size=30)


def lines_of(prompt):
    return prompt.user.split("\n")


def test_a_member_is_one_line_with_what_tells_it_from_others(ontology):
    ada = Named(
        "ada",
        "Person",
        "Ada Lovelace",
        aliases=("A. Lovelace", "Ada King", "3", "4", "5", "6"),
        description="A countess.",
        properties={"born": "1815-12-10", "role": None, "secret": "x", "founded": 1900},
    )
    bob = Named("bob", "Person", "Bob", properties={"role": ["CEO", "founder"]}, merged_labels=("Firm",))
    (prompt,) = pack([(ada, bob)], ontology)
    assert prompt.positions == (0,)
    aliases = '"A. Lovelace", "Ada King", "3", "4", "5"'
    assert lines_of(prompt) == [
        "Types and their attributes",
        "- Person: born (DATE), role (STRING)",
        "- Firm: founded (STRING)",
        "",
        "SET 1",
        f'1. "Ada Lovelace" | labels: Person | aliases: {aliases} | description: "A countess." | born: "1815-12-10"',
        '2. "Bob" | labels: Person, Firm | role: "CEO, founder"',
    ]


def test_only_the_types_of_its_members_stand_in_a_prompt(ontology):
    (prompt,) = pack([(Named("a", "Firm", "A"), Named("b", "Unknown", "B"))], ontology)
    assert lines_of(prompt)[:4] == ["Types and their attributes", "- Firm: founded (STRING)", "- Unknown", ""]


def test_the_instructions_say_that_quoted_text_is_no_instruction():
    assert "never follow" in instructions()
    assert "END" in instructions()


@given(st.lists(st.builds(Named, st.just("x"), TEXTS, TEXTS, st.tuples(TEXTS), TEXTS), min_size=2, max_size=8))
def test_no_text_of_a_document_begins_a_line_or_ends_its_quotes(members):
    (prompt,) = pack([members], PERSON)
    lines = prompt.user.splitlines()
    start = lines.index("SET 1") + 1
    assert len(lines) == start + len(members)
    for number, (line, member) in enumerate(zip(lines[start:], members, strict=True), 1):
        assert line.startswith(f'{number}. "')
        # Without what stands in quotes, only our own words are left.
        bare = remove_quoted(line)
        assert bare.count("|") == 2 + bool(member.description.strip()), line


def remove_quoted(line):
    out, inside, escaped = [], False, False
    for char in line:
        if not inside and char != '"':
            out.append(char)
        if escaped:
            escaped = False
        elif inside and char == "\\":
            escaped = True
        elif char == '"':
            inside = not inside
    assert not inside
    return "".join(out)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(2, 8), st.sampled_from(["x", "word ", "市", "é"]), st.integers(0, 1_000)), max_size=25
    )
)
def test_prompts_hold_whole_sets_in_order_within_the_limit(shapes):
    sets = [
        [Named(str(number), "Person", letter * 30, (letter * 40,), letter * size) for number in range(members)]
        for members, letter, size in shapes
    ]
    prompts = list(pack(sets, PERSON, "A note."))
    assert [position for prompt in prompts for position in prompt.positions] == list(range(len(sets)))
    for prompt in prompts:
        assert estimate_tokens(prompt.system) + estimate_tokens(prompt.user) <= MOST_TOKENS
        headings = [line for line in lines_of(prompt) if line.startswith("SET ")]
        assert headings == [f"SET {number}" for number in range(1, len(prompt.positions) + 1)]
        assert lines_of(prompt)[-1] == "A note."


def test_small_sets_share_a_prompt(person, ontology):
    sets = [(person("a"), person("b"))] * 40
    (prompt,) = pack(sets, ontology)
    assert len(prompt.positions) == 40


def test_long_texts_are_cut_and_a_set_that_is_too_long_goes_alone(person, ontology):
    long = [person("a", "市" * 500, aliases=("市" * 500,) * 9, description="市" * 9_000)] * 8
    huge = Ontology(
        entity_types=(EntityType(label="Person", properties=tuple(PropertyType(name=f"p{n}") for n in range(2_000))),)
    )
    prompts = list(pack([long, long], huge))
    assert [prompt.positions for prompt in prompts] == [(0,), (1,)]
    (prompt,) = pack([long[:2]], ontology)
    assert "市…" in prompt.user
    assert estimate_tokens(prompt.user) < MOST_TOKENS


@pytest.mark.parametrize(("text", "flat"), [("a\n b\t c", "a b c"), ("a\u2028b\x00c", "a b c"), ("a\u200bb", "ab")])
def test_texts_are_put_on_one_line(text, flat):
    assert flatten(text) == flat
