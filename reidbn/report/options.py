"""Risk against information lost, over given variants of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reidbn.attacks.routes.assessment import Assessment
from reidbn.calls import refuse_misfit, typed
from reidbn.report.assessment_figures import options_figure
from reidbn.report.style import save
from reidbn.report.telling import Telling
from reidbn.report.thresholds import Choice, Rule, judge, risk_told
from reidbn.report.thresholds import rule as read_rule
from reidbn.report.unseen import holds_for

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

EXACT = Telling(custodian=True)


class ByLoss(dict[str, Assessment]):
    """Releases in the order of what each loses, the least first, and what that is measured by."""

    by: str = ""

    @classmethod
    def of(cls, found: Mapping[str, Assessment], by: str) -> Self:
        ranked = cls(found)
        ranked.by = by
        return ranked


@dataclass(frozen=True, eq=False)
class RiskUtility:
    """One row per option; `information_lost` is empty where it cannot be told."""

    table: pd.DataFrame
    rule: Rule

    def plot(self, path: str | Path | None = None) -> Figure:
        """People beyond the limit against information lost; written to `path` if given."""
        kept = self.table.dropna(subset=["information_lost"])
        above, lost = 100 * kept["share_above"], 100 * kept["information_lost"]
        figure = options_figure(list(kept.index), above.tolist(), lost.tolist(), self.rule.beyond)
        return save(figure, path, of_people=True)

    def __repr__(self) -> str:
        return f"{self.rule.beyond} against information lost\n{self.table.round(4)}"

    def _repr_html_(self) -> str:
        return str(self.table.round(4).to_html())


@typed
def risk_utility(
    options: Mapping[str, Assessment],
    *,
    threshold: Choice | None = None,
    release: str | None = None,
) -> RiskUtility:
    """Verdict, risk and information lost (non-uniform entropy) of each option, the original first.

    `above` counts the people beyond the limit: of a public release those who have too few alike (or
    a risk above your own limit, threshold={"overall": 0.2}), of a controlled one who is unique.
    Where policies are worth the same to the attacker, risks are the highest of these, as judged.
    `holds_for` says of which columns alone, where its source has others that nobody looked at.
    Who was left out, and each cell that was emptied, lost all bits, as for rb.recommend.

    The options are assessments of variants of one table, such as those of `rb.what_if(result,
    generalise=...)`.
    """
    import pandas as pd

    from reidbn.errors import UsageError

    if not options:
        raise UsageError("give options: {name: assessment}, the original first")
    for option in options.values():
        refuse_misfit("risk_utility", "an option", option, Assessment)
    rule = read_rule(threshold, release)
    first = next(iter(options.values()))
    rows = []
    for name, option in options.items():
        (risk, _), judged = risk_told(option), judge(option, rule)
        rows.append(
            {
                "option": name,
                "mean": float(risk.mean()),
                "highest": float(risk.max()),
                "above": int(judged.beyond.sum()),
                "share_above": float(judged.beyond.mean()),
                "passes": judged.passes,
                "information_lost": information_lost(first, option),
                "holds_for": holds_for(option),
            }
        )
    return RiskUtility(pd.DataFrame(rows).set_index("option"), rule)


def information_lost(
    first: Assessment, option: Assessment, telling: Telling = EXACT
) -> float | None:
    """Non-uniform entropy lost of the table as read; None where people or columns differ.

    Who was left out lost all that was known of them; in what leaves the house it would count them.
    """
    from reidbn.attacks.leak.design import bits_lost

    before, after = first.inputs.people.whole.as_read, option.inputs.people
    if after.share_kept < 1 and not telling.custodian:
        return None
    same_people = after.whole.has_the_people_of(before)
    if not same_people or before.quasi_identifiers != after.quasi_identifiers:
        return None
    lost, whole = bits_lost(before, after)
    return telling.lost(lost / whole + 0.0 if whole > 0 else 0.0, whole, len(before))
