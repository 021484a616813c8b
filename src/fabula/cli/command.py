"""What a command is: the rows of the one table that drives parsing, help, the manifest and the reference pages.

Handlers, requests and renderers are named as text (``module:name``) and imported only when their command runs.
"""

from __future__ import annotations

from typing import Any, Literal

from fabula.kernel.values import frozen

OptionKind = Literal["flag", "int", "decimal", "text", "choice", "path", "time", "until"]
Many = Literal["one", "optional", "some", "any"]

#: Every command takes these, before or after its words.
GLOBAL_FLAGS: dict[str, str] = {
    "--json": "print exactly one JSON envelope on standard output",
    "--help": "show the help of this command (also -h)",
}

_PLACEHOLDERS = {"int": "N", "decimal": "NUMBER", "path": "PATH", "time": "TIME", "until": "TIME"}


#: First words of commands that see or keep what agents and people said.
_GATED = frozenset(("record", "recall", "remember", "memory"))


@frozen
class Option:
    """A named option. ``field`` is the request's field; by default the name with underscores.

    Kinds give the request: flag ``bool``, int ``int``, decimal ``float``, text and choice ``str``, path an absolute
    ``Path``, time and until ``int`` milliseconds (until counts a day that is named to its end). ``repeat`` and
    ``values > 1`` give tuples: of all values; of the values of the one use. Numbers lie from ``least`` to ``most``.
    """

    name: str
    help: str
    kind: OptionKind = "flag"
    default: Any = None
    choices: tuple[str, ...] = ()
    repeat: bool = False
    values: int = 1
    metavar: str = ""
    least: int = 0
    most: int | None = None
    hidden: bool = False
    required: bool = False
    field: str = ""

    @property
    def target(self) -> str:
        """The request's field that this option fills."""
        return self.field or self.name.removeprefix("--").replace("-", "_")

    @property
    def unset(self) -> Any:
        """The value when the option is not used."""
        if self.kind == "flag":
            return False
        return () if self.repeat and self.default is None else self.default

    @property
    def usage(self) -> str:
        """The option as a person types it, as in ``--limit N``."""
        if self.kind == "flag":
            return self.name
        if self.metavar:
            return f"{self.name} {self.metavar}"
        return f"{self.name} {'|'.join(self.choices) or _PLACEHOLDERS.get(self.kind, 'TEXT')}"


@frozen
class Argument:
    """A positional argument. ``one`` and ``optional`` give text; ``some`` (at least one) and ``any`` join the words
    with blanks when ``joined``, else give a tuple. With ``choices`` it is one of these words.
    """

    field: str
    help: str
    many: Many = "one"
    joined: bool = False
    metavar: str = ""
    choices: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The argument as usage lines show it."""
        name = self.metavar or self.field.upper()
        return {"one": name, "optional": f"[{name}]", "some": f"{name}...", "any": f"[{name}...]"}[self.many]


@frozen
class Command:
    """One row: a command, what it takes, what it gives and who does the work.

    ``result`` is the envelope's type. ``query`` commands read ``-word`` as a word (an exclusion), not as a flag.
    A result may have an attribute ``exit_status``; without one a command that returns exits 0.
    """

    path: tuple[str, ...]
    summary: str
    result: str
    handler: str
    request: str
    renderer: str
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    query: bool = False
    details: str = ""
    examples: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words that call it."""
        return " ".join(self.path)

    @property
    def gated(self) -> bool:
        """Say whether it refuses to work where Fabula is switched off."""
        return self.path[0] in _GATED

    @property
    def usage(self) -> str:
        """The usage line."""
        parts = ["fabula", *self.path, *(argument.usage for argument in self.arguments)]
        shown = [option for option in self.options if not option.hidden]
        parts += [option.usage if option.required else f"[{option.usage}]" for option in shown]
        return " ".join([*parts, "[--json]"])

    def fields(self) -> tuple[str, ...]:
        """Every field of the request that the command line fills."""
        return (*(a.field for a in self.arguments), *(o.target for o in self.options))
