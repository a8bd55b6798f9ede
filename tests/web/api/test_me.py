"""Who is calling."""

import hashlib

from codehub.model.accounts import Scope
from tests.web.api.people import People


async def test_a_browser_learns_who_it_is_and_what_to_send_with_changes(people: People) -> None:
    user = await people.user("ada")
    me = (await (await people.browser(user)).get("/api/v1/me")).json()
    assert (me["id"], me["login"], me["role"], me["proof"]) == (str(user.id), "ada", "user", "session")
    assert me["scopes"] == ["hold", "read", "workspaces"]
    assert len(me["csrf_token"]) == hashlib.sha256().digest_size * 2


async def test_a_program_learns_what_its_token_is_good_for(people: People) -> None:
    me = (await (await people.program(await people.user(), Scope.READ)).get("/api/v1/me")).json()
    assert (me["proof"], me["scopes"], me["csrf_token"], me["expires_at"]) == ("token", ["read"], None, None)


async def test_nobody_is_asked_to_log_in(people: People) -> None:
    answer = await (await people.client()).get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_logged_in")
    assert answer.headers["www-authenticate"].startswith("Bearer")
