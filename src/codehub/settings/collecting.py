"""What the collector may take by the settings, as decisions take them."""

from datetime import timedelta

from codehub.decide.orphans import CollectPolicy
from codehub.settings.groups import ArchiveConfig, RetentionConfig


def collect_policy(archive: ArchiveConfig, retention: RetentionConfig) -> CollectPolicy:
    return CollectPolicy(
        grace=timedelta(seconds=archive.gc_grace_seconds),
        max_share=archive.gc_max_share,
        generations=archive.generations,
        undelete_window=timedelta(seconds=retention.undelete_seconds),
    )
