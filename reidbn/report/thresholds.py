"""Thresholds on the probability of re-identification: precedents, not legal advice."""

from __future__ import annotations

from dataclasses import dataclass

from reidbn.errors import UsageError, did_you_mean

NOT_LEGAL_ADVICE = "A precedent, not legal advice."


@dataclass(frozen=True)
class Threshold:
    """A value that somebody has used before, for whom, and where that is written."""

    name: str
    value: float
    recipient: str
    source: str


PRESETS: dict[str, Threshold] = {
    t.name: t
    for t in (
        Threshold(
            "ema", 0.09, "public release of clinical reports (European Union)",
            "EMA Policy 0070 external guidance: 0.09 recommended in most cases",
        ),
        Threshold(
            "health-canada", 0.09, "public release of clinical information (Canada)",
            "Health Canada, Public Release of Clinical Information: 0.09 recommended in most cases",
        ),
        Threshold(
            "ontario-low", 0.09, "low invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 11 or more",
        ),
        Threshold(
            "ontario-medium", 0.075, "medium invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 15 or more",
        ),
        Threshold(
            "ontario-high", 0.05, "high invasion of privacy (Ontario)",
            "Ontario IPC de-identification guidelines, October 2025: groups of 20 or more",
        ),
        Threshold(
            "cell-20", 0.05, "public patient data (Canada, United States)",
            "cell-size precedents collected by El Emam: at least 20 alike",
        ),
        Threshold(
            "cell-11", 0.09, "public data (United States)",
            "cell-size precedents collected by El Emam: at least 11 alike",
        ),
        Threshold("k-10", 0.1, "at least 10 alike", "arithmetic: 1/10"),
        Threshold(
            "cell-5", 0.2, "controlled release",
            "cell-size precedents collected by El Emam: at least 5 alike",
        ),
        Threshold(
            "cell-3", 0.33, "trusted recipient under agreement",
            "cell-size precedents collected by El Emam: at least 3 alike",
        ),
    )
}  # fmt: skip


def threshold(choice: str | float) -> Threshold:
    """A preset by name, or a value of the user's own.

    >>> threshold("ema").value
    0.09
    """
    if isinstance(choice, str) and choice in PRESETS:
        return PRESETS[choice]
    try:
        value = float(choice)
    except ValueError:
        hint = did_you_mean(str(choice), PRESETS)
        raise UsageError(f'no threshold "{choice}"; {hint}') from None
    if not 0 < value < 1:
        raise UsageError(f"a threshold of {value:g}: it must lie between 0 and 1")
    known = [t for t in PRESETS.values() if t.value == value]
    source = known[0].source if known else "given by the user"
    return Threshold(f"{value:g}", value, known[0].recipient if known else "as given", source)
