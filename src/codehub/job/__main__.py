"""`python3 -m codehub.job` is `codehub job`: what a job's image holds is this folder, Python, GNU tar and zstd."""

import sys

from codehub.job.run import main

sys.exit(main(sys.argv[1:]))
