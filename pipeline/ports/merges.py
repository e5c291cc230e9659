"""What is told of merges and verdicts: how each came about, what it united, and how it is undone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pipeline.models.judging import Judged, Named, Pair
from pipeline.ports.models import Vectors

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class MergeReason:
    """Why two entities become one."""

    phase: str = ""
    """`exact` or `judged`; empty where nobody said."""
    reason: str = ""
    number: int = 0
    """Of the finalize that merges."""
    judge: str = ""


UNTOLD = MergeReason()


@dataclass(frozen=True, slots=True)
class Collision:
    """What two entities say differently: a property, or a relation that both have to the same entity."""

    kind: str
    """`property` or `relation`."""
    name: str
    """The property, or the relation's key as it is after the merge."""
    kept: Any = None
    dropped: Any = None


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """A merge that holds: `id` went into `into`, which may have gone on since."""

    id: str
    into: str
    name: str
    into_name: str
    label: str
    why: MergeReason
    at: int
    """Milliseconds since 1970, by the graph server's clock; later merges of one entity have later ones."""
    collisions: tuple[Collision, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionPlace:
    """Where a text names an entity; offsets into the document's text, None where they are unknown."""

    document: str
    source: str
    chunk: str
    start: int | None
    end: int | None
    quote: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one entity, as it was extracted, brought into the one that stands for it now."""

    id: str
    name: str
    mentions: int
    facts: int
    """Passages that state a relation of it, counted by relation."""
    properties: Mapping[str, Any]
    """What its mentions tell, and what others had written on it."""
    places: tuple[MentionPlace, ...] = ()
    """The first few of its mentions, by document and passage."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that made an entity what it is."""

    id: str
    """What the id that was asked for stands for now."""
    name: str
    """Empty where nothing mentions it any more."""
    merges: tuple[MergeRecord, ...]
    """Oldest first."""
    members: tuple[Contribution, ...]
    """The entity itself first, then by id."""


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A verdict as the graph keeps it, with the names that its entities have now; empty where they are gone."""

    judged: Judged
    at: int
    """Milliseconds since 1970, by the graph server's clock."""
    names: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class NamePage:
    """Names of entities; everything runs parallel to `ids`."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    names: tuple[str, ...]
    embedded_hashes: tuple[str, ...]
    """Of the text that each vector was made of; empty where there is none."""
    pending: "npt.NDArray[np.bool_]"
    last: int = -1
    """Where the next page goes on."""


class GraphMerges(Protocol):
    """The merges and verdicts of one graph. Changes run under an epoch's fence and raise `LeaseLost` where it is over.

    All raise `GraphMissing` and `GraphUnavailable`.
    """

    def named(self, ids: Sequence[str]) -> list[Named]:
        """Look up what a judge needs of entities, by id; those that are gone are left out."""

    def names(self, after: int, limit: int) -> NamePage:
        """List a page of all entities' names, beyond a place (-1 begins); the last one is empty."""

    def name_vectors(self, ids: Sequence[str], dimension: int) -> Vectors:
        """Read the vectors of entities' names, parallel to `ids`: shape (len(ids), dimension).

        Zeros where there is none, or one of another width. It takes 0.3 ms each: whoever has vectors by the hash of
        their text needs only the new ones.
        """

    def choose(self, survivor: str, name: str, keep: Mapping[str, str], epoch: int) -> bool:
        """Let a merged entity bear a name, and values of properties by the ids of the members that say them.

        To be called after the last merge of a group. Holds while a mention spells the name, and a member says the
        value; a row's entity keeps its name. An empty name leaves the choice to the mentions. False where the id is
        no merged entity. Needs the exclusive lease.
        """

    def undo(self, duplicate: str, epoch: int, progress: Callable[[], object] = ..., *, for_good: bool = True) -> bool:
        """Take what was merged away out again, with what had been merged into it before; False where it is not merged.

        Both get exactly their own mentions, supports and properties back, and what follows from these; they are
        pending, and kept apart by a person's verdict from now on if it is `for_good`. Edges that other writers had on
        the one before the merge go back to it as well, as new edges of the same type and properties. Not told apart,
        and so left where they are: what others have written since the merge, or on facts that passages state, and
        chunks that a relation of theirs gained from an equal one of the duplicate.

        Needs the exclusive lease; repeating it is harmless. `progress` is called between its steps, of some seconds for
        a hub of 50,000 mentions: it may renew the lease, and raise where that is lost. Before the one step that undoes
        the merge, this ends it with only the verdict kept; after that step it is undone, and True is given.
        """

    def contested(self, ids: Sequence[str]) -> list[str]:
        """List what went into a row of a table for its name alone, where another row bears that name by now.

        Only names of the rows in `ids` are looked at: those that are new or changed.
        """

    def merges(self, after: str = "", limit: int = 100, *, number: int = 0) -> list[MergeRecord]:
        """List merges by id, beyond one; of one finalize only where `number` is given."""

    def explain(self, identity: str, places: int = 5) -> Explanation | None:
        """Tell what an entity, or what it was merged into, is made of; None where there is neither.

        `places` mentions of each member are shown with their quotes.
        """

    def verdicts(self, pairs: Iterable[Pair]) -> dict[Pair, StoredVerdict]:
        """Look up what was thought of pairs, without names; those that nobody judged are left out."""

    def put_verdicts(self, rows: Sequence[Judged], epoch: int) -> int:
        """Keep verdicts, each in place of what was thought of the pair before; gives how many were kept.

        Only a person changes what a person said.
        """

    def undecided(self, after: Pair | None = None, limit: int = 100) -> list[StoredVerdict]:
        """List pairs that no judge could decide and that are two entities still, in a fixed order, beyond a pair."""

    def kept_apart(self) -> set[Pair]:
        """Give the pairs that persons keep apart, as pairs of the entities that stand for them now."""

    def forget_verdicts(self, epoch: int) -> int:
        """Forget what judges thought of entities that are neither there nor merged away; a person's word stays."""
