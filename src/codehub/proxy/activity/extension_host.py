"""The calls between a tab and its extension host, by the names of their methods. What each means.

A call is a byte for its type, four for its id, one for the receiver, then the method's name with its length before it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from codehub.model.activity import Kind
from codehub.proxy.activity.calls import UNREADABLE, Meaning

_ANSWERS = frozenset(range(5, 13))
_METHOD = re.compile(rb"[\x01-\x04].{5}.(\$\w+)", re.DOTALL)
_NOBODYS_TEXT = re.compile(rb'^.{7}\$\w+.{4}\[{[^}]*"scheme":"(?:output|log|vscode-[^"]*-log)"', re.DOTALL)


def edited(head: bytes) -> Kind | None:
    """A text changed: by a person, unless it is what the IDE prints itself, or a file that changed on disk."""
    if _NOBODYS_TEXT.match(head) or b'"source":"reloadFromDisk"' in head:
        return None
    return Kind.EDIT


def moved(head: bytes) -> Kind | bytes | None:
    """The cursor moved, by keyboard or mouse. Where only what is visible changed, somebody scrolled, or a log grew: not
    known."""
    if b'"source":"keyboard"' in head or b'"source":"mouse"' in head:
        return Kind.EDIT
    return b"scroll" if b'"visibleRanges":[' in head else None


def commanded(head: bytes) -> Kind | None:
    """A command of an extension. Those that begin with an underscore are run by editors and extensions themselves."""
    return None if b'["_' in head[:80] else Kind.COMMAND


_FROM_CLIENT: Mapping[Kind, tuple[str, ...]] = {
    Kind.EDIT: ("$undo", "$redo", "$revert"),
    Kind.SAVE: (
        "$acceptModelSaved",
        "$participateInSave",
        "$onDidRunFileOperation",
        "$onSave",
        "$onSaveAs",
        "$saveNotebook",
    ),
    Kind.TERMINAL_INPUT: ("$acceptTerminalInteraction", "$acceptProcessInput"),
    Kind.COMPLETION: (
        "$provideCompletionItems",
        "$resolveCompletionItem",
        "$provideInlineCompletions",
        "$provideSignatureHelp",
        "$provideTerminalCompletions",
        "$provideHover",
        "$provideEvaluatableExpression",
        "$provideDefinition",
        "$provideDeclaration",
        "$provideImplementation",
        "$provideTypeDefinition",
        "$provideReferences",
        "$provideRenameEdits",
        "$resolveRenameLocation",
        "$provideDocumentFormattingEdits",
        "$provideDocumentRangeFormattingEdits",
        "$provideOnTypeFormattingEdits",
        "$provideWorkspaceSymbols",
        "$prepareCallHierarchy",
        "$prepareTypeHierarchy",
        "$prepareDocumentPaste",
        "$providePasteEdits",
        "$resolveCodeAction",
    ),
    Kind.COMMAND: (
        "$provideTextSearchResults",
        "$provideAITextSearchResults",
        "$onInputBoxValueChange",
        "$onDidAccept",
        "$onDidChangeValue",
        "$onItemSelected",
        "$onDidTriggerButton",
        "$onDidTriggerItemButton",
        "$validateInput",
        "$setExpanded",
        "$changeCheckboxState",
        "$handleDrop",
        "$invokeAgent",
        "$invokeTool",
        "$startChatRequest",
        "$acceptResponsePart",
        "$acceptAction",
    ),
    Kind.TASK: (
        "$onDidStartTask",
        "$onDidStartTaskProcess",
        "$onDidEndTaskProcess",
        "$OnDidEndTask",
        "$runControllerTests",
        "$startContinuousRun",
    ),
    Kind.DEBUGGING: (
        "$startDASession",
        "$sendDAMessage",
        "$stopDASession",
        "$acceptDebugSessionStarted",
        "$acceptDebugSessionTerminated",
        "$acceptDebugSessionCustomEvent",
        "$acceptBreakpointsDelta",
        "$acceptStackFrameFocus",
    ),
    Kind.NOTEBOOK: ("$executeCells", "$cancelCells", "$acceptKernelMessageFromRenderer"),
}
_FROM_SERVER: Mapping[Kind, tuple[str, ...]] = {
    Kind.TERMINAL_OUTPUT: ("$sendProcessData",),  # a terminal that an extension draws
    Kind.DEBUGGING: ("$acceptDAMessage",),
    Kind.TASK: ("$appendOutputToRun", "$updateTestStateInRun"),
    Kind.NOTEBOOK: ("$updateExecution",),
    Kind.COMMAND: ("$handleProgressChunk",),  # an agent that answers
}


def _by_name(kinds: Mapping[Kind, tuple[str, ...]]) -> dict[bytes, Kind]:
    return {name.encode(): kind for kind, names in kinds.items() for name in names}


_MEANINGS: Mapping[bytes, Meaning] = {
    **_by_name(_FROM_CLIENT),
    b"$acceptModelChanged": edited,
    b"$acceptEditorPropertiesChanged": moved,
    b"$executeContributedCommand": commanded,
}
_WORK: Mapping[bytes, Kind] = _by_name(_FROM_SERVER)

_UPKEEP_WORDS = re.compile(
    rb"\$(?:accept|activate|apply|backup|can|change|clear|close|count|create|cwd|data|delta|deserialize|detect|diff|dispose|"
    rb"enable|expand|find|free|get|has|init|initialize|is|json|notebook|on|open|participate|prepare|provide|publish|read|"
    rb"readdir|refresh|register|release|resolve|set|shell|stat|supports|sync|unregister|unwatch|update|wait|watch)(?![a-z])"
)
"""The workbench tells extensions what has changed and asks what they know of it, also while nobody is there: a folder
in which a file changes is enough. What begins so counts only where it is named above."""
_UNKNOWN = frozenset((b"$onMessage",))
"""What a page of an extension says to it: by its owner's hand, or by its own clock."""


@lru_cache(maxsize=512)
def _meaning(method: bytes) -> Meaning:
    if method in _MEANINGS:
        return _MEANINGS[method]
    if method in _UNKNOWN:
        return method
    return None if _UPKEEP_WORDS.match(method) else method


class ExtensionHost:
    """The connection of extensions."""

    @staticmethod
    def is_call(data: bytes | memoryview, start: int, stop: int) -> bool:  # noqa: ARG004
        return data[start] not in _ANSWERS

    @staticmethod
    def is_news(data: bytes | memoryview, start: int, stop: int) -> bool:  # noqa: ARG004
        return data[start] not in _ANSWERS

    @staticmethod
    def from_client(head: bytes) -> Meaning:
        method = _METHOD.match(head)
        if method is None:
            return None if len(head) == 1 or head.startswith(b"{") else UNREADABLE  # the first messages have no method
        return _meaning(method[1])

    @staticmethod
    def from_server(head: bytes) -> Kind | None:
        method = _METHOD.match(head)
        return _WORK.get(method[1]) if method else None
