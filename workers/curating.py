"""The part of a client that lets a graph's ontology grow: the versions kept there, and the candidates to join it."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from pipeline.candidates import ENTITY, propose_types
from pipeline.config import RecipeConfig
from pipeline.errors import PermanentError
from pipeline.ontology import DeclaredTypes, Ontology, extend
from pipeline.ontology.labels import fold_label
from pipeline.ports import CandidateState, GraphInspector, StoredOntology, TypeCandidate
from scheduler.documents import Reextraction, find_documents, order_reextractions
from workers.graphs import open_candidates, open_inspector, open_ontologies
from workers.submitting import Submitter


class CandidateUnknown(PermanentError):
    """A graph has no such candidate; the message names those that are not there."""


class Curating(Submitter):
    """What a client does with the types of a graph."""

    def ontology_versions(self, graph: str) -> list[StoredOntology]:
        """List the versions of a graph's ontology, the latest first; raises `GraphMissing`."""
        with open_ontologies(self.settings, graph) as ontologies:
            return ontologies.versions()

    def set_ontology(self, graph: str, ontology: Ontology, *, expected: str) -> int:
        """Keep an ontology in a graph, which is made if there is none; gives its number.

        `expected` is the hash of the one that it follows, '' for none. Raises `OntologyChanged` where there is another
        one by now.
        """
        with open_ontologies(self.settings, graph) as ontologies:
            return ontologies.put(ontology, expected)

    def candidates(self, graph: str, state: CandidateState | None = CandidateState.OPEN) -> list[TypeCandidate]:
        """List what documents say beyond the ontology, of a state or all; raises `GraphMissing`."""
        with open_candidates(self.settings, graph) as candidates:
            return candidates.find(state)

    def reject_candidates(self, graph: str, ids: Sequence[str]) -> None:
        """Let candidates never come back; raises `CandidateUnknown`, then none is rejected, and `GraphMissing`."""
        self._find(graph, ids)
        with open_candidates(self.settings, graph) as candidates:
            candidates.set_state(ids, CandidateState.REJECTED)

    def propose(
        self, graph: str, ids: Sequence[str], parents: Sequence[str] = (), description: str = ""
    ) -> DeclaredTypes:
        """Tell what the graph's ontology lacks of candidates; raises `CandidateUnknown`, `GraphMissing`."""
        ontology = self.ontology(graph) or self.settings.recipe.ontology
        return propose_types(self._find(graph, ids), ontology, parents, description)

    def approve_candidates(
        self, graph: str, ids: Sequence[str], *, parents: Sequence[str] = (), description: str = "", **how: Any
    ) -> tuple[Ontology, list[str]]:
        """Add candidates to the graph's ontology, and make runs that make the documents anew that say them.

        The stored answers are read again under the larger ontology: nothing is asked for that was answered. Gives the
        ontology and the ids of the runs; `how` is as for `submit_files`. Harmless to repeat.
        Raises `CandidateUnknown`, `OntologyError`, `OntologyChanged`, `WorkersDiffer`, `GraphMissing`.
        """
        found = self._find(graph, ids)
        before = self.stored_ontology(graph)

        def grow(ontology: Ontology) -> Ontology:
            # Documents may be of older ontologies than the graph's, which declares some of it by now.
            return extend(ontology, propose_types(found, ontology, parents, description))

        grown = grow(self.ontology(graph) or self.settings.recipe.ontology)
        # A relation brings the types at its ends along, also to documents that say only these.
        ids = [*ids, *self._brought_along(graph, ids, grown)]
        plan = self._plan_conversion(graph, ids, grow)
        self.set_ontology(graph, grown, expected=before.hash if before else "")
        runs = [self.submit_files(one.files, one.root, graph=graph, recipe=one.recipe, **how) for one in plan]
        with open_candidates(self.settings, graph) as candidates:
            candidates.set_state(ids, CandidateState.APPROVED)
        return grown, runs

    def _brought_along(self, graph: str, ids: Sequence[str], grown: Ontology) -> list[str]:
        declared = {fold_label(label) for label in grown.labels}
        types = (one for one in self.candidates(graph) if one.kind == ENTITY and one.id not in ids)
        return [one.id for one in types if fold_label(one.type) in declared]

    def _find(self, graph: str, ids: Sequence[str]) -> list[TypeCandidate]:
        known = {one.id: one for one in self.candidates(graph, None)}
        if unknown := [name for name in ids if name not in known]:
            raise CandidateUnknown(
                f"Graph {graph} has no candidate {', '.join(map(repr, unknown))}. Nothing was changed. "
                f"`graphmill candidates list --graph {graph}` shows their ids."
            )
        return [known[name] for name in ids]

    def _plan_conversion(
        self, graph: str, ids: Sequence[str], grow: Callable[[Ontology], Ontology]
    ) -> list[Reextraction]:
        with open_candidates(self.settings, graph) as candidates:
            names = candidates.documents_of(ids)
        with open_inspector(self.settings, graph) as inspector:
            documents = find_documents(inspector.documents(), names)
            recipes = read_recipes(inspector)

        @cache
        def recipe_of(made_with: str) -> RecipeConfig:
            recipe = recipes.get(made_with) or self.recipe_for(graph)
            changes = {"ontology": grow(recipe.ontology), "grown_from": recipe.ontology.fingerprint}
            return recipe.model_copy(update={**changes, "load": self.settings.load})

        plan = order_reextractions(documents, lambda document: recipe_of(document.made_with))
        for one in plan:
            self.check_workers(one.recipe)
        return plan


def read_recipes(inspector: GraphInspector) -> dict[str, RecipeConfig]:
    """Read what documents were made with, by their fingerprint, as far as this release understands it."""
    found = {}
    for fingerprint, config in inspector.recipes().items():
        try:
            found[fingerprint] = RecipeConfig.model_validate_json(config)
        except ValidationError:
            continue
    return found
