"""Short ways for what is asked for most. FastAPI takes apart and checks each request anew, which for a small answer
costs as much as all the rest. A route of this class may know its usual request by sight; others go the long way."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, get_args

from fastapi import Request, Response
from fastapi.params import Depends
from fastapi.routing import APIRoute

from codehub.model.accounts import Caller

ShortWay = Callable[[Request], Awaitable[Response | None]]
"""Answers, refuses, or returns None for a request that has to go the long way."""

SHORT_WAYS: dict[str, ShortWay] = {}


class Quick(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        long_way = super().get_route_handler()

        async def handle(request: Request) -> Response:
            short_way = SHORT_WAYS.get(self.name)
            answer = await short_way(request) if short_way is not None else None
            return answer if answer is not None else await long_way(request)

        return handle


def short_way_of(route: str) -> Callable[[ShortWay], ShortWay]:
    """Declares the short way of the route with this operation id."""

    def declare(short_way: ShortWay) -> ShortWay:
        SHORT_WAYS[route] = short_way
        return short_way

    return declare


def identifier(caller: object) -> Callable[[Request], Awaitable[Caller]]:
    """What a route's type of caller (`Reader`, ...) does with a request."""
    depends: Depends = get_args(caller)[1]
    assert depends.dependency is not None  # noqa: S101 (that is how the types of callers are made)
    return depends.dependency
