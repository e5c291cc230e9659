"""Headings of Markdown and reStructuredText, by where their lines start."""

import pytest

from pipeline.adapters.readers.markdown import find_headings
from pipeline.adapters.readers.rst import find_titles


def outline(text, find=find_headings):
    headings = find(text)
    for heading in headings:
        assert heading.start == 0 or text[heading.start - 1] == "\n"
    return [(heading.level, heading.title, heading.start) for heading in headings]


def test_markdown_headings_of_both_styles_are_found():
    text = "# One\n\ntext\n## Two ##\nSet\n===\n\nSub\nline\n---\n"
    assert outline(text) == [(1, "One", 0), (2, "Two", 12), (1, "Set", 22), (2, "Sub line", 31)]


def test_markup_is_taken_from_titles():
    assert outline("## The *new* `code` of [Acme](http://a) &amp; Co\n")[0][1] == "The new code of Acme & Co"


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~~\n# no\n~~~\n# no\n~~~~\n",
        "    # no\n",
        "> # no\n",
        "- # no\n",
        "<!--\n# no\n-->\n",
        "#hashtag\n",
        "####### seven\n",
        "#\n",
        "---\ntitle: no\n---\n",
        "| a |\n|---|\n| b |\n---\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text):
    assert outline(text) == []


def test_offsets_are_right_after_front_matter():
    text = "---\ntitle: é\n---\n\n# One\n"
    assert outline(text) == [(1, "One", text.index("#"))]


def test_a_rule_at_the_top_is_no_front_matter():
    assert outline("---\n\n# One\n\ntext\n") == [(1, "One", 5)]
    assert outline("---\nOne\n---\ntext\n") == [(2, "One", 4)]


@pytest.mark.parametrize("text", ["[" * 50_000, "# " + "[" * 50_000, "> " * 5000 + "a", "`" * 50_000, "- " * 5000])
def test_hostile_markdown_takes_no_time(text):
    assert len(find_headings(text)) <= 1


def test_rst_levels_follow_the_order_of_the_styles():
    text = "=====\nTitle\n=====\n\nOne\n===\n\ntext\n\nSub\n---\n\nTwo\n===\n"
    assert outline(text, find_titles) == [
        (1, "Title", 0),
        (2, "One", text.index("One")),
        (3, "Sub", text.index("Sub")),
        (2, "Two", text.index("Two")),
    ]


@pytest.mark.parametrize(
    "text",
    ["text\n\n----\n\ntext\n", "Too long a title\n---\n", "  quoted\n========\n", "a text\nthat ends\n=========\n"],
)
def test_what_only_looks_like_a_title_is_none(text):
    assert outline(text, find_titles) == []
