"""Answers about accounts are for one caller, and some hold a secret: nothing in between may keep them."""

from fastapi import Response


async def never_kept(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"
