"""What a build says, read into steps and into reasons."""

import pytest

from codehub.errors import CodehubError, DiskFull
from codehub.images.faults import BuildFailed, NoNetwork, explain
from codehub.images.progress import BuildLog, Progress


def followed(*messages: dict[str, object]) -> list[Progress]:
    seen: list[Progress] = []
    log = BuildLog("start", seen.append)
    for message in messages:
        log.read(message)
    return seen


def test_steps_are_counted_and_stages_named() -> None:
    seen = followed(
        {"stream": "Step 1/9 : FROM debian AS system\n"},
        {"stream": " ---> 7e86d3e135dc\n"},
        {"stream": "Step 2/9 : RUN /build/install\n"},
        {"stream": "\x1b[91mSetting up git\x1b[0m\n"},
        {"stream": "Step 3/9 : FROM scratch\n"},
    )
    assert [(progress.stage, progress.step, progress.line) for progress in seen] == [
        ("system", 1, ""),
        ("system", 1, "---> 7e86d3e135dc"),
        ("system", 2, ""),
        ("system", 2, "Setting up git"),
        ("image", 3, ""),
    ]
    assert seen[2].steps == 9
    assert seen[2].doing == "RUN /build/install"


def test_a_message_of_several_lines_and_one_without_words() -> None:
    seen = followed({"stream": "one\ntwo\n"}, {"stream": "\n"}, {"aux": {"ID": "sha256:1"}}, {"status": "Pulling"})
    assert [progress.line for progress in seen] == ["one", "two", "Pulling"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("write /opt/x: no space left on device", DiskFull),
        ("npm error code ENOSPC", DiskFull),
        ("Temporary failure resolving 'mirror.example'", NoNetwork),
        ("npm error network request failed, reason: getaddrinfo ENOTFOUND mirror.example", NoNetwork),
        ('Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host', NoNetwork),
        ("SSLError(SSLCertVerificationError: certificate verify failed: self-signed certificate)", BuildFailed),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", BuildFailed),
        ("make: *** [argon2.o] Killed", BuildFailed),
        ("make: *** No rule to make target", BuildFailed),
    ],
)
def test_a_failure_is_explained_and_its_last_words_shown(line: str, kind: type[CodehubError]) -> None:
    error = explain("Building it failed.", ["earlier", line])
    assert type(error) is kind
    assert error.what.startswith("Building it failed. ")
    assert line in str(error)
