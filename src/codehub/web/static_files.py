"""Styles and scripts of our pages, as they are in the tree."""

from pathlib import Path

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"

# A worker obeys the policy of its own script, not that of the page which starts it.
_OF_SCRIPTS = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'"}


class OurFiles(StaticFiles):
    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Asked about before each use, which costs an answer without a body: after an update no page mixes releases."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        if path.endswith(".js"):
            response.headers.update(_OF_SCRIPTS)
        return response
