"""A browser for the tests of `codehub login`: opens the page it is given, logs in there, and answers the form.

Before that it calls the address of the command as a stranger's page could, without the secret that only ours knows."""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import httpx


class Form(HTMLParser):
    """The hidden fields of the form that is sent to this address."""

    def __init__(self, page: str, address: str) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._address = address
        self._is_within = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "form":
            self._is_within = urlsplit(given.get("action") or "").path == self._address
        if self._is_within and tag == "input" and given.get("type") == "hidden":
            self.fields[given["name"] or ""] = given["value"] or ""


address = sys.argv[1]
origin = f"http://{urlsplit(address).netloc}"
port = parse_qs(urlsplit(address).query)["port"][0]
stranger = httpx.get(f"http://127.0.0.1:{port}/callback", params={"code": "x" * 43, "state": "guess"}, trust_env=False)
if stranger.status_code != 404:
    sys.exit("the command believed a stranger")
with httpx.Client(follow_redirects=True, headers={"Origin": origin}, trust_env=False) as browser:
    page = browser.get(address)
    who = {"login": os.environ["BROWSER_LOGIN"], "password": os.environ["BROWSER_PASSWORD"]}
    page = browser.post(f"{origin}/login", data={**Form(page.text, "/login").fields, **who})
    approved = "true" if os.environ["BROWSER_ANSWER"] == "approve" else "false"
    browser.post(f"{origin}/cli-login", data={**Form(page.text, "/cli-login").fields, "approved": approved})
