"""Hearing what the triggers tell, and knowing when there is nothing more to hear."""

import asyncio

from codehub.store.protocols import Channel, FeedStore, Notice, Seat


class Ear:
    def __init__(self, seat: Seat, feed: FeedStore) -> None:
        self.seat, self.feed = seat, feed
        self._heard: list[Notice] = []

    async def listen(self) -> None:
        await self.feed.listen(self._heard.append)

    async def heard(self) -> list[Notice]:
        """What came since the last time: a session is told of all that was committed before its next answer."""
        await self.seat.heartbeat()
        await asyncio.sleep(0)
        heard, self._heard[:] = sorted(self._heard, key=lambda notice: list(Channel).index(notice.channel)), []
        return heard
