"""How routes declare what they may answer besides success: by the statuses alone, described here once for all."""

from typing import Any

MEANINGS = {
    400: "The request cannot be read.",
    401: "Nobody is logged in, or the token is not good.",
    403: "The caller may not do this, or the request was made by a page of another site.",
    404: "There is no such thing, or it belongs to somebody else.",
    409: "It cannot be done as things are now.",
    412: "It was changed since it was read.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    416: "The range begins behind the end.",
    422: "Something in the request is not valid; `errors` lists what.",
    428: "The version that is to be changed has to be named.",
    429: "Too many, or too often. `Retry-After` says when to try again.",
    503: "A part of codehub does not answer. Nothing was done; `Retry-After` says when to try again.",
}

BODY = (400, 413, 415, 422)
"""What any route that reads a body can answer."""

RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait before the next try.", "schema": {"type": "integer"}}}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route. 503 belongs to all of them: each may find the database away."""
    return {status: _described(status) for status in sorted({*statuses, 503})}


def _described(status: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": MEANINGS[status],
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in {429, 503}:
        described["headers"] = RETRY_AFTER
    return described
