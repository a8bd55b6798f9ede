"""The page tells what was found, and how it was judged."""

from pathlib import Path

from tests.soak.report import Run, write_report

SIZES = {"workspaces": 1000, "containers": 20, "streams": 500, "websockets": 2000}


def test_the_page_and_the_plot_name_what_grows(tmp_path: Path) -> None:
    run = Run(SIZES)
    run.samples += [{"at": 15.0 * number, "api MB": 100 + number, "api descriptors": 40} for number in range(41)]
    page = tmp_path / "soak-report.md"
    found = write_report(run, page)
    assert [(verdict.figure, verdict.is_flat) for verdict in found] == [("api MB", False), ("api descriptors", True)]
    told = page.read_text()
    assert "in 10 minutes: 1 of 2 figures are flat." in told
    assert "| api MB | 130.0 | +20.0 | 4.0 | GROWS |" in told
    assert "- tables MB: 5%, or 2" in told
    assert page.with_suffix(".svg").read_text().count("<polyline") == 2
