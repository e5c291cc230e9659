"""Which judge the settings name, and what is said where it cannot be had."""

import pytest

from pipeline.errors import ModelUnavailable
from workers.judges import check_judge
from workers.settings import Settings


def test_a_language_model_as_judge_must_be_named():
    with pytest.raises(ModelUnavailable, match="GRAPHMILL_JUDGE=llm needs a language model: set GRAPHMILL_LLM__MODEL"):
        check_judge(Settings(judge="llm"))


@pytest.mark.parametrize("settings", [{}, {"judge": "llm", "llm": {"model": "openai/some"}}])
def test_a_judge_that_can_be_had_is_no_error(settings):
    check_judge(Settings(**settings))


@pytest.mark.parametrize("limit", [{"judge_max_usd": 0}, {"judge_max_tokens": 0}])
def test_a_budget_of_nothing_is_refused(limit):
    with pytest.raises(ValueError, match=next(iter(limit))):
        Settings(**limit)
