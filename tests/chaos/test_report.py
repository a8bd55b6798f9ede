"""The report sums up every part of a campaign."""

from pathlib import Path
from xml.etree import ElementTree as Xml

from tests.chaos.history import Breached, Event, History, Recovered, Struck, Under
from tests.chaos.report import write_report
from tests.chaos.test_checker import GOOD


def told(path: Path, *events: Event) -> None:
    history = History(path)
    for event in events:
        history.tell(event)


def test_parts_are_counted_together_and_breaches_are_named(tmp_path: Path) -> None:
    histories = tmp_path / "histories"
    histories.mkdir()
    under = Under(0, "c0ffee", 2, 1.5)
    told(histories / "seed-1.jsonl", under, *GOOD, Recovered(130, "kill", "replica", 1.5))
    again = (under, Struck(1, "kill", "replica"), Recovered(2, "kill", "replica", 2.5), Breached(3, "ran twice"))
    told(histories / "seed-2.jsonl", *again)
    page = tmp_path / "report.md"
    write_report(histories, page)
    lines = page.read_text().splitlines()
    assert "| seed-1 | c0ffee | 1.5 on 2 cores | 1 | 0 |" in lines
    assert "| seed-2 | c0ffee | 1.5 on 2 cores | 1 | 1 |" in lines
    assert "- ran twice" in lines
    assert "| **kill** | 2 | 1.5 | 2.5 | 2.5 |" in lines
    assert "| kill: replica | 2 | 1.5 | 2.5 | 2.5 |" in lines
    plot = Xml.parse(tmp_path / "report.svg")  # noqa: S314 (our own)
    assert len(plot.findall("{http://www.w3.org/2000/svg}circle")) == 2
