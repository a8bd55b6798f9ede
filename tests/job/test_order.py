"""An order is read as it was given, or it is said what is wrong with it."""

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.job import order as order_module
from codehub.job.faults import BadOrder, TryAgain
from codehub.job.marker import Totals
from codehub.job.order import (
    RETRY_WAITS,
    DirectoryPlace,
    Kind,
    Limits,
    Order,
    Parts,
    Proof,
    S3Place,
    encode_order,
    read_order,
)

TOTALS = Totals(585, "a" * 64, 65536, 1536, 9, "b" * 64)
LEAST = {
    "format": 1,
    "kind": "verify",
    "key": "w/a/home.tar.zst",
    "workspace_id": "w",
    "codehub_version": "1.2.3",
    "home": "/home",
    "place": {"type": "directory", "folder": "/archive"},
}
PLAIN = Order(Kind.VERIFY, "w/a/home.tar.zst", "w", "1.2.3", Path("/home"), DirectoryPlace(Path("/archive")))
READING = S3Place("http://s/head", "http://s/get", "http://s/get-marker", None, None)
WRITING = S3Place(
    "http://s/head",
    "http://s/get",
    "http://s/get-marker",
    "http://s/put-marker",
    Parts(8 << 20, ("http://s/1", "http://s/2"), "http://s/complete"),
    "/run/way.sock",
    (0.5, 7.0),
)
FULL = replace(PLAIN, level=19, proof=Proof.EXTRACT, expected=TOTALS, limits=Limits(1000, 10))


def given(folder: Path, said: object) -> Path:
    file = folder / "order.json"
    file.write_text(json.dumps(said) + "\n")
    return file


@pytest.mark.parametrize("order", [PLAIN, FULL, replace(FULL, place=READING), replace(FULL, place=WRITING)])
def test_an_order_is_read_as_it_was_given(tmp_path: Path, order: Order) -> None:
    file = tmp_path / "order.json"
    file.write_bytes(encode_order(order))
    assert read_order(file, Kind.VERIFY) == order


def test_what_an_order_leaves_out_is_as_usual(tmp_path: Path) -> None:
    assert read_order(given(tmp_path, LEAST), Kind.VERIFY) == PLAIN
    assert read_order(given(tmp_path, LEAST | {"limits": None, "expected": None}), Kind.VERIFY) == PLAIN
    place = {"type": "s3", "head": READING.head, "get": READING.get, "get_marker": READING.get_marker}
    order = read_order(given(tmp_path, LEAST | {"place": place}), Kind.VERIFY)
    assert (order.place, RETRY_WAITS) == (READING, (1.0, 5.0, 20.0))


@pytest.mark.parametrize("level", [1, 19])
def test_zstd_has_nineteen_levels(tmp_path: Path, level: int) -> None:
    assert read_order(given(tmp_path, LEAST | {"level": level}), Kind.VERIFY).level == level


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (LEAST | {"level": 0}, "The order is not complete: ValueError there is no level 0."),
        (LEAST | {"level": 20}, "The order is not complete: ValueError there is no level 20."),
        (LEAST | {"format": 2}, "The order is not complete: ValueError the format 2 is not known here."),
        (LEAST | {"kind": "archive"}, "The order is one to archive, not to verify."),
        (LEAST | {"proof": "guess"}, "The order is not complete: ValueError 'guess' is not a valid Proof."),
        (LEAST | {"place": {"type": "tape"}}, "The order is not complete: KeyError 'tape'."),
        ([], "The order is not complete: TypeError list indices must be integers or slices, not str."),
    ],
)
def test_an_order_that_is_none_says_why(tmp_path: Path, said: object, complaint: str) -> None:
    with pytest.raises(BadOrder) as refused:
        read_order(given(tmp_path, said), Kind.VERIFY)
    assert str(refused.value) == complaint


@pytest.mark.parametrize("field", LEAST)
def test_nothing_of_the_least_can_be_left_out(tmp_path: Path, field: str) -> None:
    with pytest.raises(BadOrder, match=f"The order is not complete: KeyError '{field}'"):
        read_order(given(tmp_path, {name: LEAST[name] for name in LEAST if name != field}), Kind.VERIFY)


def test_an_order_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadOrder) as refused:
        read_order(tmp_path / "missing", Kind.VERIFY)
    assert str(refused.value) == "The order cannot be read (No such file or directory)."


def test_an_order_without_its_end_is_no_order_yet(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_bytes(encode_order(PLAIN)[:-1])
    with pytest.raises(TryAgain) as refused:
        read_order(tmp_path / "order.json", Kind.VERIFY)
    assert str(refused.value) == "The order did not come whole."


def test_an_order_may_come_late_and_in_pieces(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    long = replace(PLAIN, place=replace(WRITING, head="http://s/" + "h" * (3 << 20)))

    def give() -> None:
        with (tmp_path / "pipe").open("wb") as pipe:
            time.sleep(0.2)  # the reader waits: what it waits for is not there when it begins
            pipe.write(encode_order(long))

    giver = threading.Thread(target=give)
    giver.start()
    assert read_order(tmp_path / "pipe", Kind.VERIFY) == long
    giver.join()


def test_an_order_that_does_not_come_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_module, "ORDER_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    giver = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(giver, b'{"format": 1')
    try:
        with pytest.raises(TryAgain) as refused:
            read_order(tmp_path / "pipe", Kind.VERIFY)
    finally:
        os.close(giver)
    assert str(refused.value) == "The order did not come in time."
