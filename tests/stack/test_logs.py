"""Logs are bounded, and tell why a program ended."""

from pathlib import Path

import pytest

from codehub.stack.logs import last_words, trim


def test_a_log_that_grew_is_cut_under_a_writer_that_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"old\n" * 100)
        trim(tmp_path, largest=100)
        writer.write(b"new\n")
    assert log.read_bytes() == b"new\n"
    assert (tmp_path / "serve.log.1").read_bytes() == b"old\n" * 100


def test_a_small_log_stays(tmp_path: Path) -> None:
    (tmp_path / "serve.log").write_bytes(b"line\n")
    trim(tmp_path, largest=100)
    assert [path.name for path in tmp_path.iterdir()] == ["serve.log"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("LOG: a\nFATAL:  wrong file\nLOG: shut down\n", "wrong file"),
        ("FATAL:  the database system is starting up\nPANIC:  no room\n", "no room"),
        ("codehub: The database is old. Upgrade it.\n", "The database is old. Upgrade it."),
        ("first\nlast\n\n", "last"),
        ("", "it said nothing"),
    ],
)
def test_the_most_telling_line_is_found(tmp_path: Path, text: str, words: str) -> None:
    log = tmp_path / "part.log"
    log.write_text("FATAL:  of an earlier life\n")
    before = log.stat().st_size
    with log.open("a") as file:
        file.write(text)
    assert last_words(log, since=before) == words
