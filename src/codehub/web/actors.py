"""Who a request is by, as the audit log tells it."""

from fastapi import Request

from codehub.model.accounts import Caller
from codehub.store.audit import Actor


def actor_of(request: Request, caller: Caller) -> Actor:
    return Actor(caller.user_id, caller.login, address_of(request), request_id_of(request))


def nobody(request: Request, name: str) -> Actor:
    """Somebody who calls themselves by this name and has not proven it."""
    return Actor(None, name, address_of(request), request_id_of(request))


def address_of(request: Request) -> str:
    """Where the request comes from; a peer on a unix socket has no address."""
    return request.client.host if request.client is not None and request.client.host else "local"


def request_id_of(request: Request) -> str:
    return getattr(request.state, "request_id", "")
