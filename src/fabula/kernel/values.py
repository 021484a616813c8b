"""Value types that cost little to make: what dataclasses with slots give, their constructor written when it pays.

``dataclasses`` writes and compiles the methods of every class when its module is imported (half a millisecond a class),
and imports ``inspect`` to do so. One command imports a hundred such classes and makes values of a dozen. Here a class
costs microseconds until several of its values were made; from then on it is as fast as a dataclass.

Fields are annotations with or without defaults, as in a dataclass; there is no inheritance of fields. Their names are
``__match_args__``.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


class _Factory:
    """Marks a field whose default is made anew for each value."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


_UNSET = object()
_FEW = 8  # values of a class that are cheaper to fill in field by field than to write a constructor for


def field(*, default_factory: Callable[[], T]) -> T:
    """Give a field a default that is made anew for each value."""
    return _Factory(default_factory)  # type: ignore[return-value]


@dataclass_transform(field_specifiers=(field,))
def define(cls: type[T]) -> type[T]:
    """Make a class of values that may change: slots, a constructor, equality by fields, a readable form."""
    return _built(cls, is_frozen=False)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class of values that never change and may be keys: as :func:`define`, with a hash of the fields."""
    return _built(cls, is_frozen=True)


def replace(value: T, **changes: Any) -> T:
    """Return a copy of a value with some fields changed."""
    kept = {name: getattr(value, name) for name in names_of(type(value)) if name not in changes}
    return type(value)(**kept, **changes)


def names_of(cls: type) -> tuple[str, ...]:
    """Return the names of the fields of a class that this module made."""
    names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]
    return names


def as_dict(value: object) -> dict[str, Any]:
    """Return the fields of a value by name; values inside it stay what they are."""
    return {name: getattr(value, name) for name in names_of(type(value))}


def optional(cls: type) -> frozenset[str]:
    """Return the names of the fields that have defaults."""
    defaults: Mapping[str, Any] = cls._defaults  # type: ignore[attr-defined]
    return frozenset(defaults)


def _built(cls: type[T], *, is_frozen: bool) -> type[T]:
    """Return the class anew with slots for its fields and the methods that every value has."""
    names = tuple(cls.__annotations__)
    body = {name: value for name, value in cls.__dict__.items() if name not in {"__dict__", "__weakref__"}}
    defaults = {name: body.pop(name) for name in names if name in body}
    values = attrgetter(*names) if names else lambda _: ()

    calls = 0

    def first_call(self: Any, *arguments: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        if calls <= _FEW and _filled(self, names, defaults, arguments, named):
            return
        constructor = _constructor(made, names, defaults, is_frozen=is_frozen)
        made.__init__ = constructor
        constructor(self, *arguments, **named)

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    given: dict[str, Any] = {"__eq__": equal, "__repr__": _repr, "__reduce__": _reduce, "__hash__": None}
    if is_frozen:
        given |= {"__hash__": lambda self: hash(values(self)), "__setattr__": _refuse, "__delattr__": _refuse}
    fixed = {"__slots__": names, "__match_args__": names, "_defaults": defaults, "__init__": first_call}
    made: Any = type(cls.__name__, cls.__bases__, {**given, **body, **fixed})
    made.__qualname__ = cls.__qualname__
    return made  # type: ignore[no-any-return]


def _filled(
    self: object, names: tuple[str, ...], defaults: Mapping[str, Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> bool:
    """Fill in the fields of a value; where the call is wrong return ``False``: the constructor says what is wrong."""
    given = {**defaults, **dict(zip(names, arguments, strict=False)), **named}
    twice = named.keys() & names[: len(arguments)]
    if len(arguments) > len(names) or len(given) != len(names) or twice or not named.keys() <= set(names):
        return False
    for name, value in given.items():
        object.__setattr__(self, name, value.make() if type(value) is _Factory else value)
    return True


def _constructor(
    cls: type, names: tuple[str, ...], defaults: Mapping[str, Any], *, is_frozen: bool
) -> Callable[..., None]:
    """Write and compile the constructor of a class."""
    scope: dict[str, Any] = {"_unset": _UNSET}
    parameters, lines = ["self"], []
    for name in names:
        value = name
        if name not in defaults:
            parameters.append(name)
        elif isinstance(defaults[name], _Factory):
            scope[f"_make_{name}"] = defaults[name].make
            parameters.append(f"{name}=_unset")
            value = f"_make_{name}() if {name} is _unset else {name}"
        else:
            scope[f"_default_{name}"] = defaults[name]
            parameters.append(f"{name}=_default_{name}")
        if is_frozen:
            scope[f"_set_{name}"] = cls.__dict__[name].__set__
            lines.append(f"    _set_{name}(self, {value})")
        else:
            lines.append(f"    self.{name} = {value}")
    text = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or "    return")
    exec(text, scope)  # noqa: S102 - the text is made of the names of fields
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _repr(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names_of(type(self)))})"


def _reduce(self: Any) -> tuple[type, tuple[Any, ...]]:
    """Copy and pickle a value by making it again."""
    return type(self), tuple(getattr(self, name) for name in names_of(type(self)))


def _refuse(self: Any, name: str, value: object = None) -> None:  # noqa: ARG001 - the form that Python calls
    raise AttributeError(f"{type(self).__qualname__} does not change: {name}")
