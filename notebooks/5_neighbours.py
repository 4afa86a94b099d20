# %% [markdown]
# # What do my neighbours' records give away about me?
#
# Nobody has to find *your* row to learn your secret. If everybody who looks like you has the same
# diagnosis, your diagnosis is known too. This lesson measures that, person by person, after
# Kroes et al. 2021, *Evaluating privacy of individuals in medical data*.

# %%
from fractions import Fraction

import reidbn as rb

table = {
    "diagnosis": ["cancer", "cancer", "cancer", "arthrosis", "diabetes"],
    "gender": ["female", "male", "female", "male", "female"],
    "age": ["45-54", "35-44", "35-44", "55-64", "45-54"],
}
people = rb.read_table(table, quasi_identifiers=["gender", "age"], sensitive=["diagnosis"])
d = rb.disclosure(people, sensitive="diagnosis")
d.subjects[["ppp_full", "ppp_min", "npp_full", "weakest_subset"]]

# %% [markdown]
# **Peers** of a person are the people alike on what is known. The *number of plausible peers*
# (NPP) counts those with another secret; the *proportion* (PPP) is how often a guess drawn from the
# peers is wrong. PPP = 0 is disclosure, without anybody being identified.
#
# ## Knowing more is not always worse
#
# The first person has PPP 1/2 when gender and age are known, and 1/3 when only the gender is:
# two of the three women have cancer. The second woman aged 45-54 has another diagnosis and hides
# her. So "everything known" is not the worst case, and all subsets must be looked at.

# %%
assert (d.ppp_full[0], d.weakest_subset[0]) == (1 / 2, ("gender",))
numerator, denominator = d.ppp_min_fraction
Fraction(int(numerator[0]), int(denominator[0]))

# %% [markdown]
# NPP, on the other hand, can only fall as knowledge grows. So *some* subset gives PPP 0 exactly
# when full knowledge does.

# %%
assert ((d.ppp_min == 0) == (d.npp_full == 0)).all()

# %% [markdown]
# ## Predict
#
# 3,000 made-up patients, eight columns. If seven are known, the eighth is *given away* where all
# people alike share its value. Of which share of people is the sex given away? And the income?

# %%
guess = {"sex": 0.5, "income": 0.5}  # yours

# %% [markdown]
# ## A table of patients
#
# Made-up patients, eight columns, every column in turn as the secret. Dark red is disclosed.

# %%
columns = ["age", "sex", "race", "education", "marital", "income", "tenure", "diagnosis"]
patients = rb.read_table(rb.datasets.synthetic_patients(3000, seed=4), quasi_identifiers=columns)
everything = rb.secrets.disclosure_all(patients)
rb.report.disclosure_figures.heat_map(everything)

# %% [markdown]
# Each row is a strip: its people from the least protected on. Secrets with two values are easily
# given away, secrets with many values seldom. Compare with the shares:

# %%
everything.summary()[["domain", "share_upward", "mean_ppp_min"]].round(3)

# %%
for secret, said in guess.items():
    given_away = (everything[secret].ppp_full == 0).mean()
    print(f"{secret}: you said {said:.0%}, it is {given_away:.0%}")

# %% [markdown]
# ## What is a guess worth?
#
# Nobody who wants to be right *draws* a guess: the best guess is the commonest value among the
# peers. And being sure of what most people have anyway tells little: look by value, at the lift
# (posterior over prior), and at what others' records say without the person's own.

# %%
sexes = everything["sex"]
assert sexes.best_guess.mean() >= (1 - sexes.ppp_full).mean()
assert sexes.best_guess_without_own.mean() < sexes.best_guess.mean()
sexes.by_value().round(3)

# %% [markdown]
# ## Which auxiliary matters?
#
# Leave one out: what do people keep if one of their values stays unknown?

# %%
income = everything["income"]
rb.report.disclosure_figures.leave_one_out_map(income)

# %%
left_out = income.leave_one_out("full")
gains = dict(zip(left_out.columns, left_out.gain.mean(axis=1), strict=True))
most = max(gains, key=gains.get)
assert most == "age"
{name: round(float(gain), 3) for name, gain in gains.items()}

# %% [markdown]
# ## An attacker who knows each thing with some probability
#
# Full knowledge is pessimistic. A scenario gives every value (or group of values) a chance of
# being known; the expectation over all subsets is exact.

# %%
knows = {"age": 0.9, "sex": 1.0, "race": 0.6, ("education", "marital"): 0.3}
likely = rb.disclosure(patients, "income", knowledge=knows)
assert likely.breach_probability.mean() < (likely.ppp_full == 0).mean()
round(float(likely.expected_ppp.mean()), 3), round(float(likely.breach_probability.mean()), 3)

# %% [markdown]
# ## Making age coarser
#
# A person is protected or not by their own age category alone, so the best cut into any number of
# categories can be found exactly. The paper tries categories of one width only.

# %%
best = rb.secrets.best_generalisation(patients, "age", sensitive="income", categories=range(1, 21))
paper = rb.secrets.equal_width_search(patients, "age", "income")
rb.report.disclosure_figures.generalisation_curve(best, paper)

# %%
shares = best.table.set_index("categories")["share"]
theirs = paper.table.set_index("categories")["share"]
both = shares.index.intersection(theirs.index)
free = rb.secrets.best_generalisation(patients, "age", sensitive="income", smallest=1)
assert (free.table.set_index("categories")["share"][both] >= theirs[both]).all()
assert (best.table["smallest"] >= 10).all()
[str(category) for category in best.partition(6)]

# %% [markdown]
# Every category holds at least ten people (`smallest=10`): the free optimum would put single
# people apart, so that all others hide in one category. It serves protection alone. What a study
# needs from the variable is for its authors to say; the curve tells them the price.
#
# ## Is a class of one certainty?
#
# Counting says so, about the table. As a forecast about people it is overconfident: among people it
# has not seen, it gives some true secrets probability 0. Smoothed posteriors do better; `behind`
# and `behind_error` say by how much, and how surely.

# %%
scores = rb.secrets.disclosure_calibration(patients, "income", folds=5, strengths=[1.0, 10.0])
counts = scores[scores["posterior"] == "counts"].iloc[0]
assert counts["log_loss"] == float("inf")
assert scores["log_loss"][0] < scores[scores["posterior"] == "baseline"]["log_loss"].item()
scores.round(3)

# %% [markdown]
# ## Reflect
#
# - Nobody was identified in this lesson. Would a patient agree that nothing happened to them?
# - Take `diagnosis` as the secret: hardly anybody is given away for sure. Is that comforting if a
#   guess is right in half of the cases?
# - Most of what a full class says came from the person's own record. Does that excuse the table?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {13: ..., 14: ..., 15: ...}.items():
    print(rb.lesson.check(number, answer))
