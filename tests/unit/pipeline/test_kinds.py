import pytest

from pipeline.retrieve.kinds import NUMBER, WHEN, WHERE, WHO, YES_NO, asks_for_all, hint_of


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        ("Is Acme a company?", YES_NO),
        ("did Ada work there", YES_NO),
        ("“Would it float?”", YES_NO),
        ("Who founded Acme?", WHO),
        ("who's there", WHO),
        ("WHERE is it?", WHERE),
        ("When did it sink?", WHEN),
        ("How many boats are there?", NUMBER),
        ("How  much did it cost?", NUMBER),
        ("How does it float?", ""),
        ("How", ""),
        ("What is it?", ""),
        ("Whose boat is it?", ""),
        ("In what year did it sink?", ""),
        ("Island of whom?", ""),
        ("", ""),
        ("???", ""),
    ],
)
def test_the_first_words_tell_what_kind_of_answer_is_wanted(question, hint):
    assert hint_of(question) == hint


@pytest.mark.parametrize(
    "question",
    [
        "List all boats.",
        "give me a list of all boats",
        "Name every boat",
        "name ALL boats",
        "a complete list of boats",
        "the full list, please",
        "Enumerate the boats",
        "What are all the boats called?",
        "Which of all of the boats float?",
        "Which boat does each family own?",
        "every boat",
    ],
)
def test_a_question_for_all_there_are_is_known_by_its_words(question):
    assert asks_for_all(question)


@pytest.mark.parametrize(
    "question", ["Who owns the boat?", "What is it all about?", "a list of boats", "Where is Allthe?", "teach everyday"]
)
def test_other_questions_are_not(question):
    assert not asks_for_all(question)
