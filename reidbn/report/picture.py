"""A figure that shows itself in a notebook as the SVG that a page would hold."""

from __future__ import annotations

import hashlib
import io
import re
from html import escape
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

STYLE: Any = {"font.size": 9.0, "svg.hashsalt": "reidbn", "svg.fonttype": "none"}


class Picture(Figure):
    """A matplotlib figure with an SVG representation; the same figure gives the same text."""

    def svg(self, label: str = "") -> str:
        """The figure as an SVG element with a spoken label.

        The label also keeps the names inside apart from those of other figures on a page.
        """
        out = io.StringIO()
        with rc_context(STYLE):
            self.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        text = out.getvalue()
        text = re.sub(
            r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL
        )
        own = hashlib.sha256(label.encode()).hexdigest()[:6]
        text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{own}-", text)
        spoken = f'<svg role="img" aria-label="{escape(label)}" ' if label else "<svg "
        return text.replace("<svg ", spoken, 1).rstrip()

    def _repr_svg_(self) -> str:
        return self.svg()
