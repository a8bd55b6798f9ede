"""Mistakes that others made and that no linter knows of, looked for in the source."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "codehub"
SHELLS = {("os", "system"), ("os", "popen"), ("asyncio", "create_subprocess_shell"), ("subprocess", "getoutput")}
PROCESSES = {"run", "Popen", "call", "check_call", "check_output"}
CLIENTS_WITH_A_JAR = {"httpx", "aiohttp", "requests", "urllib3"}
DECODERS = {"unquote", "unquote_plus", "unquote_to_bytes", "normpath"}
WALKERS = {"rmtree", "rglob", "walk", "copytree"}
UNPACKERS = {"extractall", "unpack_archive"}
PIPE = re.compile(r"(?<![|&\\])\|(?![|&])")
CANNOT_FAIL = re.compile(r"\b(?:echo|printf) [^|]*\|")
STRICT = re.compile(r"set -[a-z]*o pipefail|lib\.sh")


@dataclass(frozen=True)
class Rule:
    """`finds` names the lines of a file that break it."""

    sentence: str
    finds: Callable[[str], list[int]]
    bad: str
    """What it must find."""
    good: str
    """What it must leave alone."""
    below: tuple[str, ...] = ("",)
    """The folders that it holds in."""
    suffixes: tuple[str, ...] = (".py",)

    def files(self) -> Iterator[Path]:
        for folder in self.below:
            for path in sorted((SOURCE / folder).rglob("*")):
                if path.is_file() and path.suffix in self.suffixes and "__pycache__" not in path.parts:
                    yield path


@cache
def calls(source: str) -> tuple[tuple[str, ast.Call], ...]:
    """All of a file, each with the last word of what is called."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return tuple((_last_word(call.func), call) for call in found)


def called(names: set[str]) -> Callable[[str], list[int]]:
    return lambda source: [call.lineno for name, call in calls(source) if name in names]


def shells(source: str) -> list[int]:
    through = [
        call.lineno
        for _, call in calls(source)
        if any(each.arg == "shell" and not _is(each.value, False) for each in call.keywords)
    ]
    return through + [
        call.lineno for name, call in calls(source) if any(_of(call, of) and name == at for of, at in SHELLS)
    ]


def sentences_as_commands(source: str) -> list[int]:
    """A command that is one text instead of a list of words."""
    return [
        call.lineno
        for name, call in calls(source)
        if name in PROCESSES
        and _of(call, "subprocess")
        and call.args
        and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]


def by_name(source: str) -> list[int]:
    """Ending a container by its name, under which there may be another one by now."""
    return [
        call.lineno
        for name, call in calls(source)
        if name == "stop" and _of(call, "instances") and call.args and _last_word(call.args[0]) == "name"
    ]


def imports(modules: set[str]) -> Callable[[str], list[int]]:
    def finds(source: str) -> list[int]:
        found = []
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                found += [node.lineno for name in names if name.partition(".")[0] in modules]
        return found

    return finds


def loose_pipes(source: str) -> list[int]:
    if STRICT.search(source):
        return []
    lines = [line.partition(" #")[0] for line in source.splitlines()]
    cases = re.compile(r"^\s*\S+\)|^\s*\*\)|^#|^\s*case ")
    return [
        number
        for number, line in enumerate(lines, 1)
        if PIPE.search(CANNOT_FAIL.sub("", line)) and not cases.match(line)
    ]


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _of(call: ast.Call, owner: str) -> bool:
    return isinstance(call.func, ast.Attribute) and _last_word(call.func.value) == owner


def _last_word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else str(getattr(node, "id", ""))


RULES = (
    Rule("No command goes through a shell.", shells, "run(['x'], shell=True)", "run(['x'], shell=False)"),
    Rule("Nor through one that the system starts.", shells, "os.system('x')", "platform.system()"),
    Rule("Nor through one beside the loop.", shells, "asyncio.create_subprocess_shell('x')", "asyncio.sleep(1)"),
    Rule(
        "A command is a list of words.",
        sentences_as_commands,
        "subprocess.run(f'rm {path}')",
        "subprocess.run(['rm', path])",
    ),
    Rule(
        "A container is ended by its id.",
        by_name,
        "await runtime.instances.stop(instance.name, 5)",
        "await runtime.instances.stop(instance.id, 5)",
    ),
    Rule(
        "The front door has no client that could keep cookies.",
        imports(CLIENTS_WITH_A_JAR),
        "import httpx\nfrom aiohttp import ClientSession",
        "import asyncio",
        below=("proxy",),
    ),
    Rule(
        "The front door passes paths on as they came.",
        called(DECODERS),
        "target = unquote(path)",
        "target = path.removeprefix(prefix)",
        below=("proxy",),
    ),
    Rule(
        "Homes are walked by programs that follow no link.",
        called(WALKERS),
        "shutil.rmtree(home)",
        "await trees.remove([home])",
        below=("coordinators", "runtimes/docker"),
    ),
    Rule("No archive is unpacked by a library.", called(UNPACKERS), "archive.extractall(home)", "archive.getmembers()"),
    Rule(
        "A pipe fails where any of its parts does.",
        loose_pipes,
        "#!/bin/sh\ntar -c . | zstd > out",
        "#!/bin/bash\nset -euo pipefail\ntar -c . | zstd > out",
        suffixes=(".sh", ""),
    ),
)
