"""How a person who is logged in on the API's origin gets into a workspace on its own:

1. On the workspace's origin the browser is given a random mark, in a cookie, and sent to the API's `/open/{workspace}`
   with the hash of that mark.
2. There the person logs in, if they have not. If the workspace is theirs, a code is made for it and for that hash, good
   once and for 30 seconds, and the browser is sent back with it, to `/.codehub/enter`.
3. Code and mark together become a visit: a cookie that is good for this one workspace, as long as the session lasts.

Whoever gets hold of the code alone, or talks somebody into following such an address, has nothing."""

import base64
import hashlib
import re
import secrets
from urllib.parse import parse_qs, urlencode

from codehub.decide.origins import Origins
from codehub.proxy.cookies import Cookies
from codehub.proxy.doorkeeper import Asked, Reply
from codehub.proxy.places import At
from codehub.proxy.replies import redirect, reply
from codehub.store.reads import Reads
from codehub.store.visits import enter

_LOCAL = re.compile(r"/[!-~]{0,1999}")


class Entrance:
    def __init__(self, origins: Origins, cookies: Cookies, reads: Reads, visit_seconds: int) -> None:
        self._origins = origins
        self._cookies = cookies
        self._reads = reads
        self._visit_seconds = visit_seconds

    def begin(self, asked: Asked, at: At) -> Reply:
        """Send somebody whom we do not know to where they are known. A mark that is there is used again: another tab
        may be on its way with it."""
        marks = self._cookies.enterings(asked)
        mark = marks[0].decode() if marks else secrets.token_urlsafe(32)
        asks = urlencode({"challenge": challenge_of(mark), "to": _local(at.inside.decode("latin-1"))})
        address = f"{self._origins.public_url}/open/{at.workspace_id.hex}?{asks}"
        return redirect(asked, address, self._cookies.set_entering(at, mark))

    async def enter(self, asked: Asked, at: At) -> Reply:
        """Raises what the database does."""
        given = parse_qs(at.inside.partition(b"?")[2].decode("latin-1"))
        code, to = given.get("code", [""])[0], _local(given.get("to", ["/"])[0])
        address = f"{self._origins.of(at.workspace_id)}{at.mount.decode()}{to}"
        challenges = [challenge_of(mark.decode()) for mark in self._cookies.enterings(asked)]
        if not challenges:
            return reply(asked, 403, "This browser keeps no cookies of this workspace, or comes from elsewhere.")
        secret = secrets.token_urlsafe(32)
        if await enter(self._reads, code, challenges, at.workspace_id, secret):
            return redirect(asked, address, self._cookies.set_visit(at, secret, self._visit_seconds))
        return redirect(asked, address)  # too late, or used before: begin anew


def challenge_of(mark: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(mark.encode()).digest()).decode().rstrip("=")


def _local(target: str) -> str:
    return target if _LOCAL.fullmatch(target) else "/"
