"""How this process reaches Redis."""

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


def connect(redis_url: str) -> Redis:
    """A client that says at once when nobody answers: one that tried again by itself would hold up whoever publishes,
    and would mend a broken subscription without telling that messages were missed meanwhile.

    It has no time limit of its own, callers have. The client's would be `asyncio.wait_for` around each command, which
    before Python 3.12 loses a cancellation that comes as the command is sent: a shutdown would wait for ever."""
    return Redis.from_url(redis_url, retry=Retry(NoBackoff(), 0), socket_timeout=None)
