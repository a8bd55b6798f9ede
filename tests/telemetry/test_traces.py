"""Traces, from a real exporter to a collector that takes them."""

import asyncio
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from codehub.archives.open import open_store
from codehub.errors import ConfigurationError
from codehub.model.states import Phase
from codehub.settings import Settings
from codehub.telemetry.traces import Traces, open_traces
from codehub.web.app import Dependencies, create_app
from codehub.web.process import Process
from tests.coordinators.house import IMAGE, House
from tests.logged import logged
from tests.telemetry.collector import Collector, attributes, collecting

SECRET = "canary-51c0de"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture
def traces(collector: Collector) -> Iterator[Traces]:
    traces = open_traces(collector.url, "replica-1")
    yield traces
    traces.close()


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with logged() as said:
        yield said


async def test_a_request_is_a_span_under_the_trace_of_its_caller_and_its_log_lines_name_it(
    traces: Traces, collector: Collector, stream: io.StringIO, tmp_path: Path
) -> None:
    settings = Settings.load({"CODEHUB_DATA_DIR": str(tmp_path)}, tmp_path)
    unused = Dependencies("postgresql://127.0.0.1:1/none", "redis://127.0.0.1:1", open_store(tmp_path.as_uri()))
    transport = httpx.ASGITransport(create_app(settings, unused, process=Process(traces=traces)))
    async with httpx.AsyncClient(transport=transport, base_url="http://codehub.test") as client:
        trace_id, parent_id = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
        headers = {
            "traceparent": f"00-{trace_id}-{parent_id}-01",
            "Authorization": SECRET,
            "X-Request-ID": "request-1",
        }
        await client.get("/healthz", headers=headers, params={"code": SECRET})
        await client.post(f"/{SECRET}", headers=headers, content=SECRET)
    await asyncio.to_thread(traces.close)
    span = collector.span("GET /healthz")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (trace_id, parent_id)
    assert attributes(span) == {
        "codehub.request_id": "request-1",
        "http.request.method": "GET",
        "http.route": "/healthz",
        "http.response.status_code": 200,
    }
    assert collector.span("POST unmatched").trace_id == span.trace_id
    assert not [body for body in collector.bodies if SECRET.encode() in body]
    lines = [json.loads(line) for line in stream.getvalue().splitlines() if '"request"' in line]
    assert {line["trace_id"] for line in lines} == {trace_id}


async def test_an_operation_and_its_acts_are_one_trace(house: House, traces: Traces, collector: Collector) -> None:
    house.traces = traces
    house.replica()
    workspace_id = await house.create()
    running = await house.until_phase(workspace_id, Phase.RUNNING)
    await asyncio.to_thread(traces.close)
    operation, act = collector.span("operation STARTING"), collector.span("act start")
    assert running.op_id is not None
    assert operation.trace_id == act.trace_id == running.op_id.bytes
    assert attributes(operation) == {"codehub.workspace_id": str(workspace_id), "codehub.outcome": "done"}
    assert operation.start_time_unix_nano <= act.start_time_unix_nano < operation.end_time_unix_nano
    [resource] = {request.resource_spans[0].resource.SerializeToString() for request in collector.requests}
    assert b"replica-1" in resource


async def test_an_act_that_fails_is_told_by_its_kind_alone(house: House, traces: Traces, collector: Collector) -> None:
    house.traces = traces
    house.engine.images.discard(IMAGE)
    house.replica(max_retries=0)
    await house.until_phase(await house.create(), Phase.ERROR)
    await asyncio.to_thread(traces.close)
    failed = collector.span("act pull")
    assert (failed.status.code, failed.status.message) == (2, "ImageUnavailable")
    assert not failed.events
    assert attributes(collector.span("operation STARTING"))["codehub.outcome"] == "given_up"


async def test_a_collector_that_is_away_costs_nothing_but_spans(house: House, unused_tcp_port: int) -> None:
    house.traces = open_traces(f"http://127.0.0.1:{unused_tcp_port}", "replica-1")
    house.replica()
    await house.until_phase(await house.create(), Phase.RUNNING)
    async with asyncio.timeout(60):
        await asyncio.to_thread(house.traces.close)


def test_a_collector_without_the_packages_to_reach_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*(name for name in sys.modules if name.startswith("opentelemetry")), "opentelemetry"]:
        monkeypatch.setitem(sys.modules, name, None)  # as Python finds a package that is not installed
    monkeypatch.delitem(sys.modules, "codehub.telemetry.otel", raising=False)
    with pytest.raises(ConfigurationError, match=r"pip install 'codehub-server\[otel\]'"):
        open_traces("http://127.0.0.1:4318", "replica-1")
