"""FastAPI as codehub uses it, for all that answers."""

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from codehub.web.drain import Draining
from codehub.web.headers import SecurityHeaders
from codehub.web.long_answers import LongAnswers
from codehub.web.measured import Measured
from codehub.web.process import Process
from codehub.web.request_ids import RequestIds


class Application(FastAPI):
    """FastAPI with a few things around all of it, its own answer to an unforeseen error included."""

    def __init__(self, process: Process, **options: Any) -> None:  # noqa: ANN401 (as FastAPI takes them)
        super().__init__(**options)
        self.state.process = process

    def build_middleware_stack(self) -> ASGIApp:
        process: Process = self.state.process
        inside = Draining(SecurityHeaders(LongAnswers(super().build_middleware_stack())), process.drain)
        return RequestIds(Measured(inside, process.metrics, process.traces))
