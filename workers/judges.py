"""Who judges entities that look alike, rules or a language model: part of the wiring."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from pipeline.errors import GraphMissing, ModelUnavailable
from pipeline.ontology import Ontology
from pipeline.ports import ArtifactStore
from pipeline.resolve.judging import Judge, LlmJudge, judge_by_rules
from pipeline.resolve.values import Pair
from scheduler.accounts import Accounts
from scheduler.calls import Calls
from scheduler.finalize import FinalizeLedger
from scheduler.gate import GatedChat
from scheduler.paid_judging import PaidJudge
from scheduler.records import Budget
from workers.extractors import open_models
from workers.graphs import open_ontologies
from workers.settings import Settings


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges of finalizes, as the settings want them; one per process."""

    settings: Settings
    calls: Calls
    accounts: Accounts
    finalizes: FinalizeLedger
    artifacts: ArtifactStore

    def open(self, graph: str, grouped: Collection[Pair]) -> Judge:
        """Give the judge of a graph's present finalize; `grouped` are the pairs that phase 1 has put together.

        Raises `ModelUnavailable`, `GraphUnavailable`, `LedgerUnavailable`.
        """
        settings = self.settings
        if settings.judge == "rules":
            return judge_by_rules(grouped)
        check_judge(settings)
        budget = Budget(settings.judge_max_usd, settings.judge_max_tokens)
        account = self.accounts.open(graph, self.finalizes.status(graph).number, budget)
        model = GatedChat(open_models(settings, settings.recipe), self.calls, settings.calls, account)
        judge = LlmJudge(model, _find_ontology(settings, graph), settings.llm.max_output_tokens, self.artifacts)
        return PaidJudge(judge, self.accounts, account)


def check_judge(settings: Settings) -> None:
    """Raise `ModelUnavailable` where a language model is to judge and none is named."""
    if settings.judge == "llm" and not settings.llm.model:
        raise ModelUnavailable(
            "GRAPHMILL_JUDGE=llm needs a language model: set GRAPHMILL_LLM__MODEL, as openai/gpt-4o-mini, or "
            "openai/NAME with GRAPHMILL_CALLS__API_BASE for a server of your own. GRAPHMILL_JUDGE=rules asks nobody."
        )


def _find_ontology(settings: Settings, graph: str) -> Ontology:
    """Give the graph's ontology where none is set, as for a run: a model is shown the attributes that it declares."""
    if not settings.ontology:
        with open_ontologies(settings, graph) as ontologies, suppress(GraphMissing):
            if stored := ontologies.current():
                return Ontology.model_validate_json(stored.settings)
    return settings.recipe.ontology
