"""`from codehub.settings import Settings`: the one name that everyone needs."""

from codehub.settings.load import Settings as Settings
