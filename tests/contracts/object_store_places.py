"""Where the stores under test are: a folder or a prefix of their own for each test, which no other test sees."""

import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path

from codehub.archives.object_store import ObjectStore
from codehub.archives.open import ensure_bucket, open_store
from codehub.stack.seaweedfs import SeaweedFS

BUCKET = "contract-suite"
CLOSED_PORT = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Place:
    """The arguments of `open_store`; plain values, so that another process can be given them."""

    url: str
    options: dict[str, str] = field(default_factory=dict)

    def open(self) -> ObjectStore:
        return open_store(self.url, **self.options)

    def but(self, **options: str) -> "Place":
        return replace(self, options=self.options | options)


def in_directory(folder: Path) -> Place:
    return Place(folder.as_uri())


async def in_bucket(server: SeaweedFS) -> Place:
    options = {
        "s3_endpoint": server.endpoint,
        "s3_access_key_id": server.access_key,
        "s3_secret_access_key": server.secret_key,
    }
    await ensure_bucket(f"s3://{BUCKET}", **options)
    return Place(f"s3://{BUCKET}/{uuid.uuid4().hex}", options)
