"""Only what a sibling replaced is called abandoned; everything in the file exists."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.reading.graph import Arrangement, Node, arrange


def uids(nodes: list[Node], arrangement: Arrangement) -> tuple[list[str], list[list[str]], list[list[str]]]:
    return (
        [nodes[index].uid for index in arrangement.main],
        [[nodes[index].uid for index in part] for part in arrangement.branches],
        [[nodes[index].uid for index in part] for part in arrangement.sidechains],
    )


def test_a_retry_leaves_one_branch_and_a_subagent_one_sidechain() -> None:
    nodes = [
        Node("a", "prompt"),
        Node("b", "call", parent="a"),
        Node("x", "reply", parent="b"),
        Node("c", "result", parent="b", source="b"),
        Node("s", "reply", source="b", sidechain=True),
        Node("d", "reply", parent="c"),
    ]
    assert uids(nodes, arrange(nodes)) == (["a", "b", "c", "d"], [["x"]], [["s"]])


def test_parallel_calls_and_their_results_are_all_on_the_main_path() -> None:
    nodes = [
        Node("p", "prompt"),
        Node("c1", "call", parent="p"),
        Node("c2", "call", parent="c1"),
        Node("c3", "call", parent="c2"),
        Node("r1", "result", parent="c1", source="c1"),
        Node("r2", "result", parent="c2", source="c2"),
        Node("r3", "result", parent="c3", source="c3"),
        Node("e", "reply", parent="r1"),
    ]
    main, branches, _ = uids(nodes, arrange(nodes))
    assert main == [node.uid for node in nodes]
    assert branches == []


def test_blocks_of_one_response_are_no_rivals_whatever_their_parents_are() -> None:
    nodes = [
        Node("p", "prompt"),
        Node("t", "thought", parent="p", response="m1"),
        Node("c1", "call", parent="p", response="m1"),
        Node("r1", "result", parent="c1", source="c1"),
        Node("e", "reply", parent="r1", response="m2"),
    ]
    assert arrange(nodes).branches == ()


def test_an_answer_asked_for_again_is_abandoned_with_all_that_follows_it() -> None:
    nodes = [
        Node("p", "prompt"),
        Node("x1", "thought", parent="p", response="m1"),
        Node("x2", "reply", parent="x1", response="m1"),
        Node("y1", "thought", parent="p", response="m2"),
        Node("y2", "reply", parent="y1", response="m2"),
    ]
    assert uids(nodes, arrange(nodes))[:2] == (["p", "y1", "y2"], [["x1", "x2"]])


def test_an_edited_prompt_leaves_the_work_done_for_the_first_wording() -> None:
    nodes = [
        Node("a", "reply"),
        Node("p1", "prompt", parent="a"),
        Node("c", "call", parent="p1"),
        Node("r", "result", parent="c", source="c"),
        Node("p2", "prompt", parent="a"),
        Node("e", "reply", parent="p2"),
    ]
    assert uids(nodes, arrange(nodes))[1] == [["p1", "c", "r"]]


def test_a_client_that_writes_every_answer_below_the_prompt_abandons_nothing() -> None:
    nodes = [
        Node("p", "prompt"),
        Node("c1", "call", parent="p", response="m1"),
        Node("r1", "result", parent="c1", source="c1"),
        Node("c2", "call", parent="p", response="m2"),
        Node("r2", "result", parent="c2", source="c2"),
        Node("t", "thought", parent="p", response="m3"),
        Node("e", "reply", parent="p", response="m4"),
    ]
    assert arrange(nodes).branches == ()


def test_progress_and_attachment_records_neither_fork_nor_cut_the_chain() -> None:
    nodes = [
        Node("p", "prompt"),
        Node("c", "call", parent="p"),
        Node("g1", "progress", parent="c"),
        Node("g2", "progress", parent="g1"),
        Node("r", "result", parent="c", source="c"),
        Node("at", "attachment", parent="r"),
        Node("e", "reply", parent="at"),
        Node("sys", "system", parent="r"),
        Node("f", "reply", parent="g2"),
    ]
    main, branches, _ = uids(nodes, arrange(nodes))
    assert "e" in main
    assert branches == []


def test_notices_and_summaries_are_never_called_abandoned() -> None:
    nodes = [
        Node("a", "reply"),
        Node("n", "notice", parent="a"),
        Node("u", "summary", parent="a"),
        Node("e", "reply", parent="a"),
    ]
    assert arrange(nodes).branches == ()


def test_what_the_host_marked_as_rewound_is_a_branch() -> None:
    nodes = [
        Node("a", "prompt"),
        Node("b", "reply", parent="a", abandoned=True),
        Node("c", "reply", parent="b", abandoned=True),
        Node("d", "prompt", parent="a"),
    ]
    assert uids(nodes, arrange(nodes))[:2] == (["a", "d"], [["b", "c"]])


def test_a_phantom_parent_is_kept_and_flagged() -> None:
    nodes = [Node("a", "prompt", parent="gone"), Node("b", "reply", parent="a"), Node("c", "reply", parent="elsewhere")]
    arrangement = arrange(nodes, exists=lambda uid: uid == "elsewhere")
    assert arrangement.main == (0, 1, 2)
    assert arrangement.dangling == {0}


def test_each_subagent_is_one_sidechain_even_where_its_own_chain_is_broken() -> None:
    nodes = [
        Node("p", "prompt", session=1),
        Node("s1", "task", session=2, sidechain=True),
        Node("t1", "task", session=3, sidechain=True),
        Node("s2", "reply", session=2, sidechain=True, parent="gone"),
        Node("u1", "task", session=1, sidechain=True),
        Node("u2", "reply", session=1, sidechain=True, parent="u1"),
    ]
    assert uids(nodes, arrange(nodes))[2] == [["s1", "s2"], ["t1"], ["u1", "u2"]]


def test_a_thread_of_a_subagent_alone_is_its_own_main_path() -> None:
    nodes = [Node("s1", "task", sidechain=True), Node("s2", "reply", sidechain=True, parent="s1")]
    assert arrange(nodes).main == (0, 1)


def test_an_empty_thread_has_no_parts() -> None:
    assert arrange([]) == Arrangement((), (), (), frozenset())


KINDS = st.sampled_from(["prompt", "reply", "thought", "call", "result", "attachment", "progress", "notice", "summary"])
NAMES = st.sampled_from([f"u{n}" for n in range(12)] + [""])
NODES = st.lists(
    st.builds(
        Node, NAMES, KINDS, parent=NAMES, source=NAMES, session=st.integers(0, 2), sidechain=st.booleans(),
        abandoned=st.booleans(), response=st.sampled_from(["", "m1", "m2"]),
    ),
    max_size=14,
)  # fmt: skip


@given(NODES)
def test_every_record_is_in_exactly_one_part_even_with_circles_and_double_uids(nodes: list[Node]) -> None:
    arrangement = arrange(nodes)
    parts = [*arrangement.main]
    for part in (*arrangement.branches, *arrangement.sidechains):
        assert list(part) == sorted(part)
        parts += part
    assert sorted(parts) == list(range(len(nodes)))


@given(NODES)
def test_the_last_thing_said_is_never_called_abandoned_by_the_graph(nodes: list[Node]) -> None:
    said = [Node(f"n{i}", node.kind, node.parent, node.source, response=node.response) for i, node in enumerate(nodes)]
    last = max((i for i, node in enumerate(said) if node.kind == "reply"), default=None)
    if last is not None and last == len(said) - 1:
        assert last in arrange(said).main
