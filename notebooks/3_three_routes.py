# %% [markdown]
# # Who can be found in this table? Three routes from a table to a name
#
# A hospital wants to share a table of patients: age, sex, state and race, no names. Somebody may
# know some of these about a person and look for the row. *How likely is it that they find it?*
#
# There are three ways to be found. The **prosecutor** knows that you are in the table, and finds
# one row that fits. The **journalist** does not know it, and needs you to be alone in the whole
# population. The **marketer** guesses among those who fit. The patients here are made up.

# %%
import numpy as np

import reidbn as rb

people = rb.read_table(
    rb.datasets.synthetic_patients(3_000, seed=1),
    quasi_identifiers=["age", "sex", "state", "race"],
    subject_id="patient_id",
    hierarchies={"age": rb.microdata.Bands(10)},
)
people

# %% [markdown]
# ## Predict
#
# 3,000 people, four columns. Which share of them is alone on all four? And of those, which share is
# alone among all 6.9 million people from whom they were drawn?

# %%
guess_table, guess_population = 0.1, 0.5  # yours

# %% [markdown]
# ## Everything known
#
# The worst case: the attacker knows all four attributes of everybody. One call gives every person's
# risk by every route.

# %%
worst = rb.assess("adversary-routes", people, scenario="worst-case", population=6_900_000)
worst.subjects.describe().loc[["mean", "50%", "max"]].round(5)

# %% [markdown]
# Prosecutor: in the worst case it is 1 for those who are alone in the table, and 0 for the others.
# Marketer: one over the number of people alike. Both are plain counting, so count:

# %%
alike = people.class_sizes()
assert np.array_equal(worst.risk("prosecutor"), alike == 1)
assert np.abs(worst.risk("marketer") - 1 / alike).max() < 1e-12
print(f"{(alike == 1).mean():.0%} of these people are alone in the table on all four")

# %% [markdown]
# The journalist's route is far smaller: who is alone among 3,000 is seldom alone among 6.9 million.
# That has to be estimated from the table (`docs/population.md`), and is the least certain part.

# %%
print(f"mean journalist risk {worst.risk('journalist').mean():.2g}")
assert worst.risk("journalist").mean() < 0.01 * worst.risk("prosecutor").mean()

# %%
unique = worst.risk("prosecutor").mean()
stays = worst.risk("journalist").sum() / worst.risk("prosecutor").sum()
print(f"alone in the table: you said {guess_table:.0%}, it is {unique:.0%}")
print(f"and still alone among all: you said {guess_population:.0%}, it is about {stays:.2%}")

# %% [markdown]
# ## What a voter list shows
#
# Nobody knows everything about everybody. A **scenario** says what is known, with which
# probability and from which source: here the state's voter list, if the person is on it.

# %%
voter = rb.what_if(worst, scenario="voter-registration")
rb.compare(worst, voter)

# %%
assert (voter.risk() <= worst.risk() + 1e-12).mean() > 0.95
assert voter.risk().mean() < worst.risk().mean() / 2

# %% [markdown]
# ## One list, or a coin for each attribute?
#
# The paper behind this attack lets each attribute meet the list on its own: the age may be known
# from the list while the sex is not. But a person is on a list with all that it shows, or not at
# all. It is the same list and the same probabilities, and a large difference:

# %%
together = rb.what_if(voter, together=True)
for name, result in (("each on its own", voter), ("one list", together)):
    p = result.risk("prosecutor")
    print(f"{name:16} prosecutor mean {p.mean():.3f}, overall mean {result.risk().mean():.3f}")
ratio = together.risk("prosecutor").mean() / voter.risk("prosecutor").mean()
print(f"one list: {ratio:.1f} times the prosecutor's risk")
assert ratio > 1.5

# %% [markdown]
# The reason: to be found, several attributes must be known *at the same time*. With one list at
# probability q that happens with q; with independent coins, with q times q times q.

# %% [markdown]
# ## Against a threshold
#
# Custodians compare with what others have asked for before: at least 11 alike in a public release;
# in a controlled one a mean of 1/class of at most 1/5, and nobody unique. These are precedents, not
# legal advice, and they are about the table: the odds of an attacker do not move them.

# %%
together.above()

# %%
print(together.summary("cell-5").verdict)
assert not together.summary("cell-5").passes

# %% [markdown]
# ## What if?
#
# Two things can be changed: the data, or what the recipient would do. Ten-year age bands, or
# controls under which a claim (`p_c`) becomes unlikely:

# %%
bands = rb.what_if(together, generalise={"age": 1})
controls = rb.what_if(together, set={"p_c": 0.1, "p_m": 0.1})
options = {"as it is": together, "ten-year bands": bands, "controls": controls}
found = rb.report.risk_utility(options, threshold={"overall": 0.2})
assert found.table.loc["ten-year bands", "above"] < found.table.loc["as it is", "above"]
assert found.table.loc["controls", "information_lost"] == 0
found

# %% [markdown]
# How unlikely must a claim be? `solve` finds the largest `p_c` that keeps 95 % of the people at or
# under 0.2:

# %%
solved = rb.solve(bands, "p_c", statistic="q95", target=0.2)
print(solved)
at = rb.what_if(bands, set={"p_c": solved.largest}).risk()
assert np.quantile(at, 0.95, method="inverted_cdf") <= 0.2 + 1e-9

# %% [markdown]
# ## How sure?
#
# Two things are open: the parameters (each has a prior) and the estimate of the population.

# %%
print(together.uncertainty(draws=10_000, thresholds=[0.2]))
print(together.population_uncertainty())

# %% [markdown]
# ## Reflect
#
# - Two reports of one table: "most can be found" and "nearly nobody". Of which routes are they?
# - `p_m`, `p_cu` and `p_c` are nobody's measurements. What would you ask for before you sign?
# - One list or a coin for each attribute: who of your colleagues would have noticed?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {7: ..., 8: ..., 9: ...}.items():
    print(rb.lesson.check(number, answer))
