"""A browser as far as the front door sees one: cookies by host, redirects across origins, and what it says of itself.

Names below `localhost` are this machine, as in real ones; every connection goes to the front door."""

import ssl
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urljoin, urlsplit
from uuid import UUID

import httpx

from codehub.decide.origins import Origins
from tests.front_door.websocket import WebSocket, open_websocket

PERSON = {
    "Accept": "text/html,application/xhtml+xml",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
}
SCRIPT = {"Accept": "*/*", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}


@dataclass
class Browser:
    address: tuple[str, int]
    origins: Origins
    headers: Mapping[str, str] = field(default_factory=dict)
    jar: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    """By host and name: value and path."""
    tls: ssl.SSLContext | None = None
    """Whom it trusts, where it comes over TLS."""

    @property
    def home(self) -> str:
        """The origin of the API."""
        return self.origins.public_url

    def origin(self, workspace_id: UUID) -> str:
        """Where a workspace is, without a slash at the end."""
        return self.origins.address(workspace_id).rstrip("/")

    async def open(self, url: str, *, follow: bool = True) -> httpx.Response:
        """A person navigates there."""
        answer = await self.send("GET", url, PERSON)
        for _ in range(10):
            if not (follow and answer.is_redirect):
                return answer
            url = urljoin(url, answer.headers["location"])
            answer = await self.send("GET", url, PERSON)
        raise AssertionError(f"still redirected to {url}")

    async def fetch(self, url: str, method: str = "GET", **headers: str) -> httpx.Response:
        """A script of a page on the same origin asks."""
        said = {**SCRIPT, **({"Origin": _origin(url)} if method != "GET" else {}), **headers}
        return await self.send(method, url, said)

    async def post(self, url: str, data: Mapping[str, str]) -> httpx.Response:
        """A form of a page on the same origin is sent."""
        said = {**PERSON, "Sec-Fetch-Site": "same-origin", "Origin": _origin(url)}
        return await self.send("POST", url, said, data=data)

    async def send(self, method: str, url: str, headers: Mapping[str, str], **more: Any) -> httpx.Response:  # noqa: ANN401
        parts = urlsplit(url)
        scheme = "http" if self.tls is None else "https"
        there = parts._replace(scheme=scheme, netloc=f"{self.address[0]}:{self.address[1]}").geturl()
        said = {**self.headers, **headers, "Host": parts.netloc}
        if cookies := self.cookies(url):
            said["Cookie"] = cookies
        named = {"sni_hostname": parts.hostname}
        async with httpx.AsyncClient(trust_env=False, timeout=30, verify=self.tls or True) as client:
            answer = await client.request(method, there, headers=said, extensions=named, **more)
        self._keep(parts.hostname or "", answer)
        return answer

    def websocket(self, url: str, origin: str | None = "", **headers: str) -> AbstractAsyncContextManager[WebSocket]:
        """`origin` is that of the page which opens it: by default the same; None says nothing, as programs do."""
        parts = urlsplit(url)
        said = {"Host": parts.netloc, **headers}
        if origin is not None:
            said["Origin"] = origin or _origin(url)
        if cookies := self.cookies(url):
            said["Cookie"] = cookies
        tls = (self.tls, parts.hostname or "") if self.tls is not None else None
        return open_websocket(self.address, f"{parts.path or '/'}?{parts.query}".rstrip("?"), said, tls)

    def cookies(self, url: str) -> str:
        parts = urlsplit(url)
        kept = self.jar.get(parts.hostname or "", {}).items()
        return "; ".join(f"{name}={value}" for name, (value, path) in kept if (parts.path or "/").startswith(path))

    def _keep(self, host: str, answer: httpx.Response) -> None:
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                kept = self.jar.setdefault(host, {})
                if morsel["max-age"] == "0":
                    kept.pop(name, None)
                else:
                    kept[name] = (morsel.value, morsel["path"] or "/")


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
