"""What the front door itself answers when it will not pass something on, ready to be sent.

Each closes the connection: after what was refused nobody knows where the next request begins."""

from enum import Enum


class Refusal(Enum):
    """Status, phrase, and a sentence for whoever sees it."""

    BAD_HEAD = 400, "Bad Request", "The head of this request is not valid HTTP."
    BAD_FRAMING = 400, "Bad Request", "It is not clear where the body of this request ends."
    BAD_CHUNKS = 400, "Bad Request", "The chunks of this request's body are not valid HTTP."
    BAD_HOST = 400, "Bad Request", "A request names exactly one host."
    BAD_UPGRADE = 400, "Bad Request", "This cannot become a WebSocket."
    NOT_HERE = 404, "Not Found", "There is no such thing here."
    METHOD = 405, "Method Not Allowed", "This method is not served here."
    HEAD_TOO_SLOW = 408, "Request Timeout", "The head of this request took too long."
    BODY_TOO_SLOW = 408, "Request Timeout", "The body of this request took too long."
    EXPECTATION = 417, "Expectation Failed", "Only 100-continue can be expected."
    TOO_MANY = 429, "Too Many Requests", "There are too many connections from this address."
    HEAD_TOO_LARGE = 431, "Request Header Fields Too Large", "The head of this request is too large."
    BAD_ANSWER = 502, "Bad Gateway", "What answered there did not speak valid HTTP."
    NO_ANSWER = 502, "Bad Gateway", "What should answer there closed the connection."
    UNREACHABLE = 502, "Bad Gateway", "Nobody answers there."
    UNKNOWN = 503, "Service Unavailable", "It could not be found out where this belongs. Try again soon."
    ANSWER_TOO_SLOW = 504, "Gateway Timeout", "What should answer there took too long."
    VERSION = 505, "HTTP Version Not Supported", "Only HTTP/1.0 and HTTP/1.1 are spoken here."

    def __init__(self, status: int, phrase: str, sentence: str) -> None:
        body = f"{sentence}\n".encode()
        retry = "Retry-After: 2\r\n" if status == 503 else ""
        head = (
            f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
            f"Cache-Control: no-store\r\n{retry}Connection: close\r\n\r\n"
        )
        self.status = status
        self.head = head.encode()
        self.answer = self.head + body


class Refused(Exception):
    """Raised while a head or a body is read."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.name)
        self.refusal = refusal


class BadAnswer(Exception):
    """What answered cannot be trusted to mean what it says; its connection is dropped."""
