"""How wide words are, without a font at hand: the advance widths of DejaVu Sans.

Pictures name DejaVu Sans first.  It is among the widest of the common faces, so a reader whose
machine shows another one finds more room, not less.
"""

from __future__ import annotations

# Thousandths of the font size for the printable ASCII characters, from blank to ~.
_REGULAR = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
_BOLD = (
    348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683,
    683, 821, 837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771,
    724, 725, 457, 365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665,
    343, 1042, 712, 687, 716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838,
)  # fmt: skip
_OTHER = 1000  # anything beyond ASCII


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Width of a line of text, in the unit of the size.

    >>> round(width_of("leaked", 10), 2)
    33.35
    """
    widths = _BOLD if bold else _REGULAR
    total = 0
    for sign in text:
        place = ord(sign) - 32
        total += widths[place] if 0 <= place < len(widths) else _OTHER
    return total * size / 1000


def wrapped(text: str, size: float, room: float, *, bold: bool = False) -> list[str]:
    """The text in lines that fit into the room; a word that is too long alone is cut up.

    >>> wrapped("one two three", 10, 50)
    ['one two', 'three']
    """
    lines: list[str] = []
    line = ""
    for word in text.split():
        for part in _pieces(word, size, room, bold=bold):
            longer = f"{line} {part}" if line else part
            if line and width_of(longer, size, bold=bold) > room:
                lines.append(line)
                line = part
            else:
                line = longer
    return [*lines, line] if line else lines


def _pieces(word: str, size: float, room: float, *, bold: bool) -> list[str]:
    """The word, or pieces of it that fit, cut after _ or - where there is one."""
    if width_of(word, size, bold=bold) <= room:
        return [word]
    end = len(word) - 1
    while end > 1 and width_of(word[:end], size, bold=bold) > room:
        end -= 1
    seam = max(word.rfind("_", 0, end), word.rfind("-", 0, end)) + 1
    cut = seam if seam > 1 else end
    return [word[:cut], *_pieces(word[cut:], size, room, bold=bold)]
