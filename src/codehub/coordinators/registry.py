"""A place that images come from, asked in the one way that a runtime has: by a pull."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from codehub.runtimes.errors import ImageUnavailable
from codehub.runtimes.protocols import Instances


@dataclass
class Registry:
    instances: Instances
    wanted: dict[str, None] = field(default_factory=dict)
    """Images that it was asked for in vain, in turn."""

    async def answers(self) -> None:
        """Begin to pull one of the images, and let go at the first sign that it comes; that there is no such image is
        an answer too. Afterwards nothing is known to be missing: whoever needs an image finds out."""
        image = next(iter(self.wanted))
        self.wanted[image] = self.wanted.pop(image)  # the next trial asks for the next one
        comes = asyncio.Event()
        pulling = asyncio.ensure_future(self.instances.pull(image, lambda _: comes.set()))
        coming = asyncio.ensure_future(comes.wait())
        try:
            await asyncio.wait([pulling, coming], return_when=asyncio.FIRST_COMPLETED)
            if pulling.done():
                with contextlib.suppress(ImageUnavailable):
                    pulling.result()
        finally:
            for task in (pulling, coming):
                task.cancel()
            await asyncio.wait([pulling, coming])
        self.wanted.clear()
