from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import pytest

from fabula.kernel.values import define, field, frozen, names_of, optional, replace


@frozen
class Place:
    """A place."""

    name: str
    height: int = 0
    tags: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.name} ({self.height} m)"

    @classmethod
    def at_sea(cls, name: str) -> Place:
        return cls(name)


@define
class Box:
    first: int
    things: list[int] = field(default_factory=list)


@frozen
class Nothing:
    """No field at all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    name: str
    height: int = 0
    tags: tuple[str, ...] = ()


def test_a_value_is_made_by_position_by_name_and_with_defaults() -> None:
    assert Place("a") == Place(name="a", height=0, tags=()) == Place("a", 0)
    assert (Place("a", 3).height, Place("a", 3).title, Place.at_sea("b").name) == (3, "a (3 m)", "b")
    assert Nothing() == Nothing()


@pytest.mark.parametrize("wrong", [{}, {"name": "a", "other": 1}])
def test_missing_and_unknown_fields_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=r"Place\.__init__\(\)"):
        Place(**wrong)  # type: ignore[arg-type]


def test_values_with_the_same_fields_are_equal_and_other_types_are_not() -> None:
    assert Place("a") != Place("b")
    other: object = Plain("a")
    assert Place("a") != other
    assert len({Place("a"), Place("a"), Place("b")}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Box(1))


def test_a_frozen_value_refuses_changes_and_a_defined_one_takes_them() -> None:
    with pytest.raises(AttributeError, match="does not change"):
        Place("a").height = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="does not change"):
        del Place("a").height
    box = Box(1)
    box.first = 2
    assert box == Box(2)
    with pytest.raises(AttributeError):
        box.other = 1  # type: ignore[attr-defined]


def test_a_default_that_is_made_is_made_anew_for_each_value() -> None:
    one, other = Box(1), Box(1)
    one.things.append(5)
    assert (one.things, other.things, Box(1, [2]).things) == ([5], [], [2])


def test_it_reads_as_a_dataclass_does() -> None:
    assert repr(Place("a", 3)) == repr(Plain("a", 3)).replace("Plain", "Place")
    assert Place.__doc__ == "A place."
    assert Place.__qualname__ == "Place"
    assert names_of(Place) == Plain.__match_args__ == ("name", "height", "tags")
    assert optional(Place) == {"height", "tags"}
    match Place("a", 3):
        case Place(name, height):
            assert (name, height) == ("a", 3)


def test_copies_and_pickles_are_equal() -> None:
    for value in (Place("a", 3), Box(1, [2])):
        assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_a_value_is_replaced_field_by_field() -> None:
    assert replace(Place("a", 3), height=4) == Place("a", 4)
    with pytest.raises(TypeError):
        replace(Place("a"), other=1)


def test_dataclasses_are_not_needed_to_make_value_types() -> None:
    code = "import fabula.kernel.values, sys; sys.exit('dataclasses' in sys.modules or 'inspect' in sys.modules)"
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=unmeasured).returncode == 0
