"""The idle times of the settings, as decisions take them."""

from datetime import timedelta

from codehub.decide.idle import IdlePolicy
from codehub.settings.load import Settings
from codehub.settings.origins import origins


def idle_policy(settings: Settings) -> IdlePolicy:
    ttl = settings.ttl
    return IdlePolicy(
        standby_after_seconds=ttl.standby_seconds,
        archive_after_seconds=ttl.archive_seconds,
        standby_ceiling_seconds=ttl.standby_ceiling_seconds,
        archive_ceiling_seconds=ttl.archive_ceiling_seconds,
        flush_interval=timedelta(seconds=settings.activity.flush_interval),
        undelete_window=timedelta(seconds=settings.retention.undelete_seconds),
        origins=origins(settings.codehub, settings.proxy),
    )
