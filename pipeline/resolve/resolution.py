"""From verdicts on pairs to one plan: what is merged into what, and what waits.

Agreements are united over all sets; nothing is, where two members of a group would be kept apart. The order in which
anything is given decides nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.resolve.merges import rank_survivor
from pipeline.resolve.uniting import Uniting, rule
from pipeline.resolve.values import Group, Judged, Named, Pair, Verdict


@dataclass(frozen=True, slots=True, order=True)
class PlannedMerge:
    """`duplicate` goes into `survivor`."""

    survivor: str
    duplicate: str
    because: Judged
    """A verdict that the duplicate is the same as the survivor, or as one that goes into it, too."""


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """What a survivor is to be called and to say, once all of its group is merged into it."""

    survivor: str
    name: str = ""
    """One of the names and aliases of the group; '': nobody chose."""
    keep: tuple[tuple[str, str], ...] = ()
    """Names of attributes with the id of the member whose value stays."""


@dataclass(frozen=True, slots=True, order=True)
class Clash:
    """Two members of a group hold different values of an attribute, and one of them is set aside."""

    survivor: str
    name: str
    kept: str
    """The id of the member whose value stays."""
    dropped: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done; everything sorted, so that equal decisions are equal plans."""

    merges: tuple[PlannedMerge, ...] = ()
    choices: tuple[Choice, ...] = ()
    """To be made after the last merge of their group."""
    held: tuple[tuple[str, ...], ...] = ()
    """Groups of ids of which nothing is merged, as an answer is missing: their pending members stay so."""
    undecided: tuple[Judged, ...] = ()
    clashes: tuple[Clash, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Count what a report names; `held` counts groups."""
        return {
            "merged": len(self.merges),
            "renamed": sum(1 for choice in self.choices if choice.name),
            "held": len(self.held),
            "undecided": len(self.undecided),
            "collisions": len(self.clashes),
        }


def resolve(
    verdicts: Iterable[Judged],
    named: Mapping[str, Named],
    apart: Collection[Pair] = (),
    unanswered: Iterable[Sequence[str]] = (),
    groups: Iterable[Group] = (),
) -> Plan:
    """Plan the merges that follow from all verdicts together.

    Args:
        verdicts: New and remembered ones, those of phase 1 among them. Of several on one pair a person's counts, then
            phase 1's, a model's and that of rules; of equal ones the one that keeps apart.
        named: The entities by id; verdicts on others, which are gone, count for nothing.
        apart: Pairs that must never be merged, beside those of two keyed entities.
        unanswered: The sets without a usable answer. A group with a member of one is held: the answer might change it.
        groups: What the judge would call the groups that it found, and whose values it would keep.
    """
    ruled = rule(one for one in verdicts if all(member in named for member in one.pair))
    uniting = Uniting(ruled, {one.id for one in named.values() if one.keyed}, apart)
    held = [set(members).intersection(named) for members in unanswered]
    waiting = {member for members in held for member in members}
    merges: list[PlannedMerge] = []
    choices: list[Choice] = []
    clashes: list[Clash] = []
    by_member: dict[str, list[Group]] = defaultdict(list)
    for group in sorted(set(groups)):
        for member in group.ids:
            by_member[member].append(group)
    for united in uniting.groups:
        if not united.isdisjoint(waiting):
            held.append(united)
            continue
        members = rank_survivor(named[member] for member in united)
        opinions = {group for member in united for group in by_member[member]}
        choice = _choose(members, opinions)
        survivor = members[0].id
        merges += (PlannedMerge(survivor, one, because) for one, because in uniting.reasons(survivor, united))
        clashes += _find_clashes(members, dict(choice.keep))
        if choice.name or choice.keep:
            choices.append(choice)
    undecided = (one for one in ruled.values() if one.verdict is Verdict.UNDECIDED and not uniting.together(one.pair))
    return Plan(
        tuple(sorted(merges)),
        tuple(sorted(choices)),
        tuple(sorted(tuple(sorted(group)) for group in _join(held) if len(group) > 1)),
        tuple(sorted(undecided)),
        tuple(sorted(clashes)),
    )


def _join(sets: Iterable[set[str]]) -> list[set[str]]:
    """Join the sets that have a member in common."""
    found: dict[str, set[str]] = {}
    for members in sets:
        joined = members.union(*(found[member] for member in members if member in found))
        found |= dict.fromkeys(joined, joined)
    return list({id(group): group for group in found.values()}.values())


def _choose(members: Sequence[Named], opinions: Iterable[Group]) -> Choice:
    """Take the word on most of the members; a row of a table keeps its name."""
    survivor, ids = members[0], {member.id for member in members}
    heard = [(len(ids.intersection(group.ids)), group) for group in opinions]
    ranked = [group for overlap, group in sorted(heard, key=lambda one: (-one[0], one[1])) if overlap > 1]
    spelled = {name for member in members for name in (member.name, *member.aliases)}
    names = (group.name for group in ranked if group.name in spelled)
    name = "" if survivor.keyed else next(names, "")
    keep: dict[str, str] = {}
    for group in ranked:
        for attribute, member in group.keep:
            if member in ids:
                keep.setdefault(attribute, member)
    return Choice(survivor.id, "" if name == survivor.name else name, tuple(sorted(keep.items())))


def _find_clashes(members: Sequence[Named], keep: Mapping[str, str]) -> Iterator[Clash]:
    """List the values that are set aside: unless chosen, the first member's stays. Lists are joined."""
    for attribute in sorted({name for member in members for name in member.properties}):
        holders = [member for member in members if member.properties.get(attribute) is not None]
        holders.sort(key=lambda member: member.id != keep.get(attribute))
        for holder in holders[1:]:
            ours, theirs = holders[0].properties[attribute], holder.properties[attribute]
            if ours != theirs and not (isinstance(ours, list | tuple) and isinstance(theirs, list | tuple)):
                yield Clash(members[0].id, attribute, holders[0].id, holder.id)
