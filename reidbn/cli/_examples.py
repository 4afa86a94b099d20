"""Examples at the end of a command's help."""

from __future__ import annotations


def examples(*lines: str) -> str:
    r"""The lines as they are: \b keeps click from wrapping them."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
