"""What the collector may take by the settings, as decisions take them."""

from datetime import timedelta

from codehub.decide.orphans import CollectPolicy
from codehub.settings.load import Settings


def collect_policy(settings: Settings) -> CollectPolicy:
    return CollectPolicy(
        grace=timedelta(seconds=settings.archive.gc_grace_seconds),
        max_share=settings.archive.gc_max_share,
        generations=settings.archive.generations,
        undelete_window=timedelta(seconds=settings.retention.undelete_seconds),
    )
