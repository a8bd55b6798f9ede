"""The interface keeps what it says of itself: a short campaign of made-up calls, and a description without mistakes."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from tests.web.api.campaign import administrator, one_round, serving

METHODS = {"get", "post", "patch", "put", "delete"}


@pytest.mark.timeout(600)
async def test_made_up_calls_get_only_answers_that_are_described(
    database_url: str, redis_url: str, tmp_path: Path
) -> None:
    archives = tmp_path / "archives"
    token = await administrator(database_url, archives)
    async with serving(database_url, redis_url, tmp_path, archives) as address:
        done = await one_round(address, token, 3, tmp_path)
    assert done.passed, done.report
    assert done.calls > 100


@pytest.fixture
async def document(app: FastAPI) -> dict[str, Any]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://codehub.test") as client:
        found: dict[str, Any] = (await client.get("/api/v1/openapi.json")).json()
        return found


def operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for method, operation in path.items() if method in METHODS]


async def test_every_operation_has_a_name_of_its_own_words_and_its_refusals(document: dict[str, Any]) -> None:
    found = operations(document)
    assert len({each["operationId"] for each in found}) == len(found)
    for each in found:
        assert each["description"] or each["summary"], each["operationId"]
        assert "503" in each["responses"], each["operationId"]
        problems = [code for code in each["responses"] if code >= "400"]
        for code in problems:
            assert list(each["responses"][code]["content"]) == ["application/problem+json"], (each["operationId"], code)


def has(word: str, schema: dict[str, Any]) -> bool:
    """Itself, or as one of the kinds of value that it may be."""
    return word in schema or "$ref" in schema or any(has(word, each) for each in schema.get("anyOf", []))


async def test_every_field_of_every_body_and_answer_is_described(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            assert has("description", described), f"{name}.{field}"


async def test_every_body_has_an_example(document: dict[str, Any]) -> None:
    """As a whole, or of each field that it needs; of one field where it needs none."""
    schemas = document["components"]["schemas"]
    for each in operations(document):
        content = each.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        name = content.get("$ref", "").rpartition("/")[2]
        if name:
            fields, needed = schemas[name]["properties"], schemas[name].get("required", [])
            shown = {field for field, described in fields.items() if has("examples", described)}
            assert "examples" in schemas[name] or (shown and shown >= set(needed)), name
