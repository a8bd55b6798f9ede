"""How much of this process one visitor may take, and for how long."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    head_bytes: int = 64 * 1024
    head_seconds: float = 10.0
    """From the first byte of a head to its last."""
    idle_seconds: float = 75.0
    """For a connection on which nothing is under way."""
    stalled_seconds: float = 60.0
    """For somebody who sends nothing of a body that has begun, or takes nothing of an answer."""
    answer_seconds: float = 600.0
    """For the beginning of an answer, once the request has come whole. Long polling has to live."""
    half_open_seconds: float = 60.0
    """For what the other side still has to say after one side has ended."""
    ended_seconds: float = 5.0
    """For the beginning of an answer to somebody who has ended: most have left, a few programs wait for it."""
    linger_seconds: float = 2.0
    """For a refused request's rest: to close while it still comes would take the refusal away from its reader."""
    connect_trial_seconds: float = 0.5
    """For the first try to connect; then it is asked for once more. Nobody refuses at the address of a container that
    has just gone, and a living one answers at once."""
    connect_seconds: float = 5.0
    kept_seconds: float = 4.0
    """For an unused connection to a workspace: Node closes its own after 5 s, just when the next request may come."""
    kept_connections: int = 256
    """To one upstream."""
    held_bytes: int = 64 * 1024
    """Of requests that were sent before the one before them was answered."""
    buffered_bytes: int = 256 * 1024
    """Written and not yet taken, on either side; then nothing is read from the other."""
    connections_per_address: int = 1024
    answer_head_bytes: int = 128 * 1024
    interim_answers: int = 32
