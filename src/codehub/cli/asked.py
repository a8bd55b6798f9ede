"""What every command that talks to a server has in common: `--context`, `--json`, and the server they lead to."""

import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from codehub.cli import completion

if TYPE_CHECKING:
    from codehub.cli.contexts import Context
    from codehub.cli.server import Server

P = ParamSpec("P")

ContextName = Annotated[
    str,
    typer.Option(
        "--context",
        help="Another server than the current one.",
        show_default=False,
        autocompletion=completion.context_names,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


@dataclass(frozen=True)
class Asked:
    """How the person wants it: of which server, and in which form."""

    context_name: str = ""
    as_json: bool = False

    @cached_property
    def context(self) -> "Context":
        from codehub.cli import contexts

        return contexts.choose(self.context_name)

    @cached_property
    def server(self) -> "Server":
        from codehub.cli.server import Server

        return Server.of(self.context)

    def tell(self, document: Any, words: Callable[[], str | None]) -> None:  # noqa: ANN401 (any JSON)
        """The document for programs, the words for people."""
        text = json.dumps(document, indent=2, ensure_ascii=False) if self.as_json else words()
        if text is not None:
            typer.echo(text)


Command = Callable[Concatenate[Asked, P], None]


def command(group: typer.Typer, name: str = "") -> Callable[[Command[P]], Command[P]]:
    """Register a function as a command of the group. Its first argument is made of the options that all share."""

    def registered(function: Command[P]) -> Command[P]:
        @functools.wraps(function)
        def run(*arguments: Any, context_name: str, as_json: bool, **options: Any) -> None:  # noqa: ANN401
            function(Asked(context_name, as_json), *arguments, **options)

        own = list(inspect.signature(function).parameters.values())[1:]
        shared = [
            inspect.Parameter("context_name", inspect.Parameter.KEYWORD_ONLY, default="", annotation=ContextName),
            inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
        ]
        run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in [*own, *shared]}
        group.command(name or function.__name__)(run)
        return function

    return registered
