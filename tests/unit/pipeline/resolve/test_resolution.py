"""Resolution: one plan from all verdicts, whatever the order, and nothing merged that must stay apart."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.resolve.judging import LlmJudge
from pipeline.resolve.resolution import Choice, Clash, Plan, resolve
from pipeline.resolve.rules import RULES
from pipeline.resolve.uniting import rule
from pipeline.resolve.values import EXACT, PERSON, Group, Judged, Named, Verdict, pair_of

SAME, DIFFERENT, UNDECIDED = Verdict
IDS = "abcdefghij"
MODEL = "provider/model"
_PAIRS = st.sampled_from(list(combinations(IDS, 2)))
VERDICTS = st.lists(
    st.builds(
        Judged,
        _PAIRS,
        st.sampled_from([SAME, SAME, DIFFERENT, UNDECIDED]),
        st.sampled_from(["one", "two"]),
        st.sampled_from([MODEL, RULES, EXACT, PERSON]),
    ),
    max_size=30,
)
ENTITIES = st.fixed_dictionaries(
    {
        identity: st.builds(
            Named,
            st.just(identity),
            st.just("Person"),
            st.sampled_from(["Ann", "Anna"]),
            properties=st.dictionaries(st.sampled_from("xy"), st.sampled_from([1, 2, [3], None])),
            degree=st.integers(0, 2),
            keyed=st.sampled_from([False, False, False, True]),
        )
        for identity in IDS
    }
)
GROUPS = st.lists(
    st.builds(
        Group,
        st.sets(st.sampled_from(IDS), min_size=2, max_size=4).map(lambda ids: tuple(sorted(ids))),
        st.sampled_from(["Ann", "Anna", "Eve"]),
        st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from(IDS)), max_size=1).map(tuple),
    ),
    max_size=5,
)
SETS = st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), max_size=2)
APART = st.lists(_PAIRS, max_size=3)


def judged(*pairs, verdict=SAME, judge=MODEL):
    return [Judged(pair_of(*pair), verdict, "judged", judge) for pair in pairs]


def name(*ids, **more):
    return {identity: Named(identity, "Person", identity, **more) for identity in ids}


def groups_of(plan):
    groups = {}
    for merge in plan.merges:
        groups.setdefault(merge.survivor, {merge.survivor}).add(merge.duplicate)
    return groups


@given(VERDICTS, ENTITIES, APART, SETS, GROUPS, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_decides_nothing(verdicts, named, apart, unanswered, groups, shuffle):
    plan = resolve(verdicts, named, apart, unanswered, groups)
    shuffled = [list(rows) for rows in (verdicts, named.items(), apart, unanswered, groups)]
    for rows in shuffled:
        shuffle.shuffle(rows)
    again = resolve(shuffled[0], dict(shuffled[1]), *shuffled[2:])
    assert again == plan


@given(VERDICTS, ENTITIES, APART, SETS)
def test_no_group_holds_a_pair_that_is_kept_apart_and_each_is_held_together_by_agreements(
    verdicts, named, apart, unanswered
):
    plan = resolve(verdicts, named, apart, unanswered)
    ruled = rule(verdicts)
    groups = groups_of(plan)
    members = [member for group in groups.values() for member in group]
    assert len(members) == len(set(members)) == len(plan.merges) + len(groups)
    for group in groups.values():
        for pair in map(tuple, map(sorted, combinations(group, 2))):
            assert pair not in apart
            assert pair not in ruled or ruled[pair].verdict is not DIFFERENT
            assert not all(named[member].keyed for member in pair)
    for survivor, group in groups.items():
        reached = {survivor}
        because = [merge.because for merge in plan.merges if merge.survivor == survivor]
        for _ in group:
            reached |= {member for one in because if reached & set(one.pair) for member in one.pair}
        assert reached == group
        assert all(ruled[one.pair] == one and one.verdict is SAME for one in because)


@given(VERDICTS, ENTITIES, APART)
def test_an_agreement_is_only_left_out_where_something_is_kept_apart(verdicts, named, apart):
    groups = groups_of(resolve(verdicts, named, apart))
    of_member = {member: frozenset(group) for group in groups.values() for member in group}
    ruled = rule(verdicts)
    for pair, one in ruled.items():
        first, second = (of_member.get(member, frozenset({member})) for member in pair)
        if one.verdict is SAME and first != second:
            crossed = [pair_of(ours, theirs) for ours in first for theirs in second]
            assert any(
                across in apart
                or (across in ruled and ruled[across].verdict is DIFFERENT)
                or all(named[member].keyed for member in across)
                for across in crossed
            )


def test_agreements_of_several_sets_chain():
    plan = resolve(judged(("aapl", "apple inc"), ("apple", "apple inc")), name("aapl", "apple", "apple inc"))
    assert groups_of(plan) == {"apple inc": {"aapl", "apple", "apple inc"}}


def test_an_agreement_never_crosses_what_a_judge_kept_apart():
    verdicts = judged(("a", "b"), ("b", "c")) + judged(("a", "c"), verdict=DIFFERENT)
    assert groups_of(resolve(verdicts, name("a", "b", "c"))) == {"a": {"a", "b"}}


def test_of_agreements_that_exclude_each_other_the_surest_counts():
    verdicts = judged(("a", "b")) + judged(("b", "c"), judge=EXACT) + judged(("a", "c"), verdict=DIFFERENT)
    assert groups_of(resolve(verdicts, name("a", "b", "c"))) == {"b": {"b", "c"}}


def test_two_rows_of_tables_are_never_merged_even_by_what_lies_between():
    named = name("m") | name("r", "s", keyed=True)
    plan = resolve(judged(("m", "r"), ("m", "s")), named)
    assert groups_of(plan) == {"r": {"m", "r"}}


def test_what_a_person_undid_stays_apart():
    assert resolve(judged(("a", "b")), name("a", "b"), apart=[("a", "b")]) == Plan()
    undone = judged(("a", "b"), verdict=DIFFERENT, judge=PERSON)
    assert resolve(judged(("a", "b")) + undone, name("a", "b")) == Plan()


def test_of_several_verdicts_on_a_pair_the_surest_counts():
    pair = ("a", "b")
    ranked = [(DIFFERENT, PERSON), (SAME, EXACT), (DIFFERENT, MODEL), (SAME, MODEL), (DIFFERENT, RULES), (SAME, RULES)]
    verdicts = [Judged(pair, verdict, "", judge) for verdict, judge in ranked]
    verdicts.append(Judged(pair, UNDECIDED, "", PERSON))
    for surest, _ in enumerate(verdicts):
        assert rule(reversed(verdicts[surest:])) == {pair: verdicts[surest]}


def test_a_verdict_on_an_entity_that_is_gone_counts_for_nothing():
    plan = resolve(judged(("a", "b"), ("b", "c")), name("a", "c"), unanswered=[("b", "d")])
    assert plan == Plan()


def test_a_group_with_a_member_of_an_unanswered_set_is_held():
    verdicts = judged(("a", "b"), ("b", "c"), ("x", "y"))
    plan = resolve(verdicts, name(*"abcdxyz"), unanswered=[("c", "d")])
    assert groups_of(plan) == {"x": {"x", "y"}}
    assert plan.held == (("a", "b", "c", "d"),)


def test_what_is_held_is_told_group_by_group():
    verdicts = judged(("a", "b"), ("c", "d"), ("e", "f"))
    plan = resolve(verdicts, name(*"abcdefgh"), unanswered=[("b", "g"), ("f", "h"), ("a", "d")])
    assert plan.held == (("a", "b", "c", "d", "g"), ("e", "f", "h"))
    assert (plan.merges, plan.counts["held"]) == ((), 2)


def test_an_unusable_answer_holds_its_group(chat, ontology):
    named = name("a", "b", "c", "d")
    model = chat("SET 1 GROUP: 1, 2\nEND", *["SET 1 GROUP: 1, 2"] * 3)
    sets = [("a", "b"), ("b", "c")]
    (first,) = LlmJudge(model, ontology, 100).judge([[named[one] for one in sets[0]]])
    *_, last = LlmJudge(model, ontology, 100).judge([[named[one] for one in sets[1]]])
    assert last.unanswered == (0,)
    plan = resolve(first.answered[0].judged, named, unanswered=[sets[1]])
    assert (plan.merges, plan.held) == ((), (("a", "b", "c"),))


def test_undecided_pairs_are_listed_unless_others_unite_them():
    undecided = judged(("a", "b"), ("c", "d"), verdict=UNDECIDED)
    plan = resolve(undecided + judged(("a", "x"), ("b", "x")), name(*"abcdx"))
    assert [one.pair for one in plan.undecided] == [("c", "d")]
    assert plan.counts == {"merged": 2, "renamed": 0, "held": 0, "undecided": 1, "collisions": 0}


def test_a_group_takes_the_name_given_to_most_of_it_if_a_member_bears_it():
    named = {
        "a": Named("a", "Person", "Tim", degree=9),
        "b": Named("b", "Person", "Tim Cook", aliases=("Timothy Cook",)),
        "c": Named("c", "Person", "T. Cook"),
    }
    verdicts = judged(("a", "b"), ("b", "c"))
    groups = [Group(("a", "b"), "Tim Cook"), Group(("a", "b", "c"), "Timothy Cook"), Group(("a", "z"), "T. Cook")]
    assert resolve(verdicts, named, groups=groups).choices == (Choice("a", "Timothy Cook"),)
    assert resolve(verdicts, named, groups=groups[:1]).choices == (Choice("a", "Tim Cook"),)
    assert resolve(verdicts, named, groups=[Group(("a", "b"), "Tim Apple")]).choices == ()
    assert resolve(verdicts, named, groups=[Group(("a", "b"), "Tim")]).choices == ()


def test_a_row_of_a_table_keeps_its_name_but_not_every_value():
    named = {
        "m": Named("m", "Person", "Timothy Cook", properties={"born": 1961}),
        "r": Named("r", "Person", "Tim", properties={"born": 1960}, keyed=True),
    }
    groups = [Group(("m", "r"), "Timothy Cook", (("born", "m"),))]
    plan = resolve(judged(("m", "r")), named, groups=groups)
    assert plan.choices == (Choice("r", "", (("born", "m"),)),)
    assert plan.clashes == (Clash("r", "born", "m", "r"),)


def test_different_values_are_told_unless_lists_which_are_joined():
    def member(identity, degree, **properties):
        return Named(identity, "Person", identity, degree=degree, properties=properties)

    named = {
        "a": member("a", 3, born=1960, tags=[1], role="COO"),
        "b": member("b", 2, born=1961, tags=[2], role="COO"),
        "c": member("c", 1, born=1962, age=50),
    }
    plan = resolve(judged(("a", "b"), ("b", "c")), named)
    assert plan.clashes == (Clash("a", "born", "a", "b"), Clash("a", "born", "a", "c"))
