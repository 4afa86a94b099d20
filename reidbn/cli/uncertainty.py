"""reidbn sobol and uncertainty: what priors on the parameters say of the answer."""

from __future__ import annotations

import click

from reidbn.cli._options import output_options, question_options
from reidbn.cli._whatif import asked, plot_option, read_ranges, show, threshold_option

over_option = click.option("--over", multiple=True, metavar="NAME[=LOW:HIGH]",
                           help="Only these parameters, over these ranges.")  # fmt: skip


@click.command()
@question_options
@over_option
@plot_option
@output_options
def sobol(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    over: tuple[str, ...],
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Whose uncertainty makes the answer uncertain: each parameter's share of the variance."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    show(rb.sobol(attack, question, over=read_ranges(over), **how), as_json=as_json, plot=plot)
    return 0


@click.command()
@question_options
@over_option
@click.option("--samples", default=100_000, show_default=True, help="Draws for the quantiles.")
@click.option("--seed", default=0, show_default=True)
@threshold_option
@plot_option
@output_options
def uncertainty(
    attack: str,
    question: str | None,
    settings: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    subject: tuple[str, ...],
    over: tuple[str, ...],
    samples: int,
    seed: int,
    threshold: float | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """The distribution of the answer when the parameters have their priors."""
    import reidbn as rb

    how = asked(settings, given, do, subject, quiet=quiet)
    if threshold is not None:
        how["thresholds"] = (threshold,)
    result = rb.uncertainty(
        attack, question, over=read_ranges(over), samples=samples, seed=seed, **how
    )
    options = {"threshold": threshold} if plot else {}
    show(result, as_json=as_json, plot=plot, **options)
    return 0
