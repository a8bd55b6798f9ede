"""The list of an archive's entries, as a hash: what should be there, and what is."""

import hashlib
from collections.abc import Sequence


class Manifest:
    """Every path in the order of the archive, each followed by a zero byte; a folder's without a slash at its end.

    The archive's maker hashes what it told tar to take, the reader what is there. They agree only if tar has left
    nothing out and added nothing.
    """

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def add(self, paths: Sequence[bytes]) -> None:
        """Several at once: a call for each would cost more than the hash."""
        if paths:
            self._digest.update(b"\0".join(paths) + b"\0")
