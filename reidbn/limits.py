"""How large things may become: every budget of memory and time that the house keeps to, by name.

What is beyond one is refused before anything is allocated, with a way out.
"""

from __future__ import annotations

import errno
import stat
from pathlib import Path

MOST_MODEL = 4_000_000
"""Bytes of a model or scenario file."""
MOST_TEXT = 100_000_000
"""Bytes of any other file that is read whole: a network, a hierarchy, a register, JSON."""
MOST_UNPACKED, BOMB = 1 << 30, 300
"""Bytes from which on a compressed table may not be so many times its packed size."""
MOST_TABLES = 5_000
"""Tables that one exact question needs: the order of multiplying them is found in seconds."""
MOST_DECIDED = 1 << 36
"""Multiplications that attackers who decide together take, of all people: some minutes."""
MOST_DRAWN = 400
"""Cards in one picture."""
MOST_DRAWS = 10**8
"""Draws that are acted out at once, in arrays of as many numbers: some gigabytes."""
MOST_ROUNDS = 10_000
"""Rounds of a whole fit, or of a whole leak."""
MOST_CHECKED = 1_000_000
"""People who are looked at one by one when a result is checked."""
MOST_PEOPLE = 10_000_000_000
"""People of whom a table can be a sample: no more are on earth, and a slip of the hand would make
everybody look safe."""
MOST_LISTED = 10**7
"""Numbers that are written out one by one: leak sizes, the members of one class."""


def regular(path: Path, most: int = MOST_TEXT) -> Path:
    """The path of a file of at most so many bytes; an OSError says what is there instead."""
    try:
        found = path.stat()
    except ValueError:  # a zero byte in a name
        raise OSError(errno.EINVAL, "no file can be called so") from None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device, and no file")
    if found.st_size > most:
        raise OSError(errno.EFBIG, f"it has {found.st_size:,} bytes; at most {most:,} are read")
    return path
