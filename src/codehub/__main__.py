"""`python -m codehub` is the `codehub` command."""

from codehub.main import main

main()
