"""How large things may become: every budget of memory and time that the house keeps to, by name.

What is beyond one is refused before anything is allocated, with a way out.
"""

from __future__ import annotations

MOST_DRAWS = 10**8
"""Draws that are acted out at once, in arrays of as many numbers: some gigabytes."""
MOST_ROUNDS = 10_000
"""Rounds of a whole fit, or of a whole leak."""
MOST_CHECKED = 1_000_000
"""People who are looked at one by one when a result is checked."""
MOST_LISTED = 10**7
"""Numbers that are written out one by one: leak sizes, the members of one class."""
