"""The first page: what is running here and how each part does. The dashboard takes its place."""

from html import escape

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from codehub.telemetry.health import Check
from codehub.web.health import Readiness, Report, Status

WORDS = {
    Status.READY: "codehub is running, and every part of it answers.",
    Status.DEGRADED: "codehub is running. A part of it does not answer; what needs it waits.",
    Status.UNAVAILABLE: "codehub is running, but cannot work until its database can be used.",
}

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>codehub</title>
<link rel="stylesheet" href="/static/style.css">
</head>
<body>
<main>
<h1>codehub</h1>
<p role="status">{words}</p>
<table>
<thead><tr><th scope="col">part</th><th scope="col">state</th><th scope="col">answer</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p>Your workspaces will be listed here as soon as the dashboard is part of codehub. Programs read the same state from
<a href="/readyz">/readyz</a>.</p>
</main>
</body>
</html>
"""


def routes(readiness: Readiness) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def home() -> HTMLResponse:
        return HTMLResponse(page(await readiness.report()), headers={"Cache-Control": "no-store"})

    return router


def page(report: Report) -> str:
    return PAGE.format(words=WORDS[report.status], rows="\n".join(map(_row, report.checks)))


def _row(check: Check) -> str:
    """One part. Its state is a word, not only a colour; what it answered is foreign text and escaped."""
    state = "ok" if check.ok else "fault"
    answer = f"{check.detail}, {check.latency_ms:g} ms" if check.ok else f"{check.detail}. {check.remedy}".strip()
    return (
        f'<tr class="{state}"><th scope="row">{escape(check.name)}</th><td>{state}</td><td>{escape(answer)}</td></tr>'
    )
