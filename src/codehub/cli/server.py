"""The HTTP API, as commands use it: documents in and out, sentences for what goes wrong."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Self
from uuid import uuid4

import httpx

from codehub.cli import contexts
from codehub.cli.refusals import Refused, refusal
from codehub.errors import CodehubError, NotRunning

ROOT = "/api/v1"
ATTEMPTS = 5
"""How often a request is sent before its fault is told."""
LONGEST_WAIT_SECONDS = 10.0
SECONDS = 30.0
QUICK_SECONDS = 1.0
PAGE = 200
PASSING = ('"in_progress"', '"being_deleted"')
NEVER_DONE = (httpx.ConnectError, httpx.ConnectTimeout)

Document = dict[str, Any]


class Server:
    """One server, and the token or session that proves who asks."""

    def __init__(self, url: str, headers: Mapping[str, str], *, quick: bool = False) -> None:
        """`quick`: somebody waits for the next letter, and nothing is better than late."""
        self.url = url
        self._attempts = 1 if quick else ATTEMPTS
        socket = url.removeprefix(contexts.UNIX) if url.startswith(contexts.UNIX) else None
        here = socket is not None or contexts.is_loopback(url)
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=socket) if socket is not None else None,
            base_url=(url if socket is None else "http://localhost") + ROOT,
            headers={"User-Agent": f"codehub/{version('codehub-server')}", **headers},
            timeout=QUICK_SECONDS if quick else SECONDS,
            trust_env=not here,  # a proxy leads elsewhere
            verify=url.startswith("https:"),  # to read the certificates takes longer than a request
        )

    @classmethod
    def of(cls, context: contexts.Context, *, quick: bool = False) -> Self:
        return cls(context.server, {"Authorization": f"Bearer {context.token}"}, quick=quick)

    def get(self, path: str, **params: Any) -> Document:  # noqa: ANN401 (what a query can hold)
        return self._answer("GET", path, params=_given(params))

    def post(self, path: str, body: Document | None = None) -> Document:
        """With a key: sent again after a lost answer, it is done once. Only where the API keeps such keys."""
        return self._answer("POST", path, json=body, headers={"Idempotency-Key": str(uuid4())})

    def post_once(self, path: str, body: Document | None = None) -> Document:
        """For what must not be sent again when its answer was lost: it may be done."""
        return self._answer("POST", path, json=body, again=False)

    def patch(self, path: str, body: Document, if_match: str | None = None) -> Document:
        return self._answer("PATCH", path, json=body, headers={"If-Match": if_match} if if_match else {}, again=False)

    def delete(self, path: str) -> Document:
        """Of what answers the same when it is asked for again."""
        return self._answer("DELETE", path)

    def delete_once(self, path: str) -> Document:
        return self._answer("DELETE", path, again=False)

    def pages(self, path: str, most: int | None = None, **params: Any) -> Document:  # noqa: ANN401
        """A list of any length as one document; `next` tells whether there is more than was wanted."""
        items: list[Document] = []
        cursor = None
        while True:
            left = PAGE if most is None else min(PAGE, most - len(items))
            page = self.get(path, cursor=cursor, limit=left, **params)
            items += page["items"]
            cursor = page["next"]
            if cursor is None or len(items) == most:
                return {"items": items, "next": cursor}

    @contextmanager
    def lines(
        self,
        path: str,
        seconds: float | None,
        headers: Mapping[str, str] | None = None,
        **params: Any,  # noqa: ANN401
    ) -> Iterator[httpx.Response]:
        """An answer that goes on. Nothing for so many seconds, and it counts as lost."""
        timeout = httpx.Timeout(SECONDS, read=seconds)
        try:
            with self._http.stream("GET", path, params=_given(params), headers=headers, timeout=timeout) as response:
                if response.is_error:
                    response.read()
                    raise self._refused(response)
                yield response
        except httpx.TransportError as error:
            raise self._away(error) from error

    def refuse_strangers(self) -> None:
        """Raises unless a codehub answers there: a person is not sent to a page that does not exist."""
        response = self._send("GET", "/me", again=True)
        if "application/problem+json" not in response.headers.get("Content-Type", ""):
            raise self._stranger(response)

    def log_in(self, login: str, password: str) -> tuple["Server", Document]:
        """The same server as somebody who has proven their password, and who that is."""
        response = self._send("POST", "/auth/login", again=False, json={"login": login, "password": password})
        welcome = self._document(response)
        return Server(self.url, session_headers(response, welcome)), welcome["user"]

    def change_password(self, body: Document) -> tuple["Server", Document]:
        """Of a session, which is replaced by that."""
        response = self._send("POST", "/me/password", again=False, json=body)
        changed = self._document(response)
        return Server(self.url, session_headers(response, changed)), changed

    def _answer(self, method: str, path: str, *, again: bool = True, **request: Any) -> Document:  # noqa: ANN401
        return self._document(self._send(method, path, again=again, **request))

    def _send(self, method: str, path: str, *, again: bool, **request: Any) -> httpx.Response:  # noqa: ANN401
        """The first answer that counts. A lost connection and 503 are tried again, for a while."""
        for attempt in range(self._attempts):
            last = attempt == self._attempts - 1
            wait = 0.25 * 2**attempt
            try:
                response = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                never_done = isinstance(error, NEVER_DONE)
                if not (again or never_done):
                    raise self._lost() from error
                if last or (never_done and attempt == 0):
                    raise self._away(error) from error
            else:
                if last or not _is_passing(response):
                    return response
                wait = _retry_after(response) or wait
            time.sleep(min(wait, LONGEST_WAIT_SECONDS))
        raise AssertionError("the last attempt returns or raises")

    def _document(self, response: httpx.Response) -> Document:
        if response.is_error:
            raise self._refused(response)
        if response.status_code == HTTPStatus.NO_CONTENT:
            return {}
        try:
            document: Document = response.json()
        except ValueError:
            raise self._stranger(response) from None
        return document

    def _refused(self, response: httpx.Response) -> CodehubError:
        try:
            problem = json.loads(response.text)
            return refusal(problem, self.url)
        except (ValueError, TypeError, KeyError):
            return self._stranger(response)

    def _stranger(self, response: httpx.Response) -> CodehubError:
        if response.has_redirect_location:
            there = response.headers["Location"].removesuffix(response.request.url.raw_path.decode())
            return Refused(f"{self.url} leads to {there}.", f"Log in there: codehub login {there}")
        return Refused(
            f"{self.url} answered {response.status_code} and is not a codehub.", "Is the address right, without a path?"
        )

    def _lost(self) -> CodehubError:
        return NotRunning(
            f"The connection to {self.url} was lost, and it is not known whether it is done.",
            "Look before you repeat it.",
        )

    def _away(self, error: httpx.TransportError) -> CodehubError:
        return NotRunning(
            f"{self.url} does not answer: {str(error) or type(error).__name__}.",
            "Is codehub running there? Here it is started by: codehub up",
        )


def session_headers(response: httpx.Response, document: Document) -> dict[str, str]:
    """Cookies by hand: one that is meant for https is good for this machine itself, whatever way we come."""
    cookies = "; ".join(f"{each.name}={each.value}" for each in response.cookies.jar)
    return {"Cookie": cookies, "X-CSRF-Token": document["csrf_token"]}


def _is_passing(response: httpx.Response) -> bool:
    """A service that is away, the first of the same requests, which is still being worked on, or a deletion that is at
    its end in a moment."""
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        return True
    return response.status_code == HTTPStatus.CONFLICT and any(code in response.text for code in PASSING)


def _retry_after(response: httpx.Response) -> float | None:
    told = response.headers.get("Retry-After", "")
    return float(told) if told.isdigit() else None


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value not in (None, "", [])}
