"""What a workspace runs: an image or local tool, where its IDE answers, and what it may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from codehub.model.states import ImageState

STANDARD_REGISTRY = "docker.io"


def registry_of(image: str) -> str:
    """The host that an image comes from, by the rule that engines go by: a name with a dot or a port, or localhost."""
    host, slash, _ = image.partition("/")
    return host if slash and ("." in host or ":" in host or host == "localhost") else STANDARD_REGISTRY


@dataclass(frozen=True, slots=True)
class Template:
    id: UUID
    name: str
    image: str
    state: ImageState
    port: int
    health_path: str
    environment: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, float] = field(default_factory=dict)
    strip_prefix: bool = True
    """Without it, the tool is told the path below which it lies, and all that it answers lies there too."""
