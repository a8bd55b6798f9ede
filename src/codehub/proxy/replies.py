"""Answers that the front door gives by itself."""

from http import HTTPStatus

from codehub.proxy.doorkeeper import Asked, Reply

_ALWAYS = (
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
)
RETRY_AFTER = "Retry-After: 2"


def reply(asked: Asked, status: int, sentence: str = "", *lines: str) -> Reply:
    """A sentence as plain text. `lines` are more headers, which we have written ourselves."""
    body = f"{sentence}\n".encode() if sentence else b""
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{_ALWAYS}"
    if body:
        head += "Content-Type: text/plain; charset=utf-8\r\n"
    if status != HTTPStatus.NO_CONTENT:
        head += f"Content-Length: {len(body)}\r\n"
    head += "".join(f"{line}\r\n" for line in lines) + "\r\n"
    return Reply(head.encode() + (b"" if asked.method == b"HEAD" else body))


def redirect(asked: Asked, address: str, *lines: str) -> Reply:
    return reply(asked, 302 if asked.method in (b"GET", b"HEAD") else 303, "", f"Location: {address}", *lines)


def not_found(asked: Asked) -> Reply:
    """The same for what is not there and for what is somebody else's."""
    return reply(asked, 404, "There is no such workspace.")


def asleep(asked: Asked) -> Reply:
    return reply(asked, 503, "This workspace is not running. Open it in a browser to wake it.", RETRY_AFTER)


def away(asked: Asked) -> Reply:
    """A browser that shows it asks again by itself."""
    return reply(asked, 503, "A part of codehub does not answer at the moment; try again.", RETRY_AFTER, "Refresh: 3")


def foreign(asked: Asked) -> Reply:
    return reply(asked, 403, "This request comes from a page of another origin.")


def not_allowed(asked: Asked) -> Reply:
    return reply(asked, 403, "This token may not open workspaces.")


def not_logged_in(asked: Asked) -> Reply:
    return reply(asked, 401, "Log in, or send a token that is still good.", 'WWW-Authenticate: Bearer realm="codehub"')
