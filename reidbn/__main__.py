"""`python -m reidbn`: the same as `reidbn`."""

from reidbn.cli import main

main()
