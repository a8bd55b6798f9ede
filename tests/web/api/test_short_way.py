"""The short way answers as the long way does, which whatever is unusual about a request takes."""

import httpx

from tests.web.api.people import People
from tests.web.api.workspaces import ROOT, Owner

LONG = "?long=way"
CHANGES = {"x-request-id", "date"}


async def test_both_ways_answer_the_same(ada: Owner, people: People) -> None:
    own = (await ada.create())["id"]
    foreign = (await Owner(await people.program(await people.user()), ada.pool).create())["id"]
    unknown = "00000000-0000-0000-0000-000000000001"
    nobody = await people.client()
    for client, which, status in (
        (ada.client, own, 200),
        (ada.client, foreign, 404),
        (ada.client, unknown, 404),
        (nobody, own, 401),
    ):
        short, long = await client.get(f"{ROOT}/{which}"), await client.get(f"{ROOT}/{which}{LONG}")
        assert (short.status_code, long.status_code) == (status, status)
        assert short.json() == long.json()
        assert _told(short.headers) == _told(long.headers)


async def test_both_are_counted_under_one_name(ada: Owner, people: People) -> None:
    own = (await ada.create())["id"]
    for way in ("", LONG):
        await ada.client.get(f"{ROOT}/{own}{way}")
    metrics = await (await people.browser(await people.administrator())).get("/metrics")
    [counted] = [
        line
        for line in metrics.text.splitlines()
        if line.startswith("codehub_http_requests_total")
        and 'method="GET"' in line
        and 'route="/api/v1/workspaces/{workspace_id}"' in line
    ]
    assert counted.endswith(" 2.0")


def _told(headers: httpx.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in CHANGES}
