"""`python -m reidbn.cli`: the same as `reidbn`."""

from reidbn.cli import main

main()
