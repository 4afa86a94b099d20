# %% [markdown]
# # Why do five papers compute the same thing? The record network
#
# One paper divides by *a*, the records that match. One divides by *h*, the leaked part of a class.
# A course asks for *k*. A fourth subtracts shares of a secret among peers. A fifth scores noisy
# copies. Are these five ideas, or one?
#
# They are questions to **one graph**: a record is drawn from the table, its attributes follow, and
# the attacker sees something of them. This lesson builds it for six people and asks.

# %%
import numpy as np

import reidbn as rb

table = {
    "birth": ["02/09/1970", "20/09/1970", "01/08/1960", "02/08/1960", "25/08/1970", "30/08/1970"],
    "gender": ["M", "F", "F", "F", "M", "M"],
    "disease": ["A", "B", "C", "D", "E", "F"],
}
net = rb.records.record_network(table, secret=["disease"])
rb.draw(net.attack)

# %% [markdown]
# ## Predict
#
# Somebody sees "F". How likely is it that they mean the second person? And "F, born in 1960"?

# %%
guess = 1 / 6, 1 / 6  # yours

# %% [markdown]
# The table is from a course on k-anonymity. `record` is uniform over its six rows, everything else
# is a function of it. Nothing is learnt or fitted: the graph *is* the table.
#
# ## The attacker's guess: 1 / class size
#
# Ask the graph which record it is, given what is seen. Every record that matches gets the same
# share, so the share of the right one is 1 / (number that match).

# %%
posterior = net.posterior({"gender": "F"})
assert np.allclose(posterior, [0, 1 / 3, 1 / 3, 1 / 3, 0, 0])
posterior.round(3)

# %%
print(f"you said {guess[0]:.2f} for F; it is {posterior[1]:.2f}, and 0 if born in 1960")

# %%
assert [net.class_size(i) for i in range(6)] == [1] * 6
assert [net.class_size(i, ["gender"]) for i in range(6)] == [3] * 6
assert net.k(["gender"]) == 3
print("birth and gender known: k =", net.k(), "   gender alone: k =", net.k(["gender"]))

# %% [markdown]
# ## Coarser eyes instead of a coarser table
#
# Publishing the year of birth only is the same as an attacker who sees only the year. So a
# generalisation is a node *between* the attribute and the attacker, and the table stays as it is.

# %%
year = {birth: "*/" + birth[-4:] for birth in table["birth"]}
coarse = rb.records.record_network(table, seen={"birth": year}, secret=["disease"])
chances = [coarse.match(i) for i in range(6)]
assert np.allclose(chances, [1 / 4, 1 / 4, 1 / 2, 1 / 2, 1 / 4, 1 / 4])
print("k =", round(1 / max(chances)), "with the year alone")

# %% [markdown]
# ## The secret: plausible deniability
#
# Ask for the secret instead of the record. P(another disease than mine | what is known) is what
# Kroes et al. call PPP. It can be 0 although nobody was singled out: when a class shares a secret.
# Here all diseases differ, so PPP is 1 - 1/class size. Then we make three of them equal.

# %%
assert np.isclose(net.ppp(1, ["gender"], "disease"), 2 / 3)
same = {**table, "disease": ["A", "B", "B", "B", "E", "F"]}
shared = rb.records.record_network(same, secret=["disease"])
assert shared.ppp(1, ["gender"], "disease") == 0.0
assert shared.class_size(1, ["gender"]) == 3
print("class size 3, and yet PPP =", shared.ppp(1, ["gender"], "disease"))

# %% [markdown]
# The baseline belongs beside it: what could be said about the secret *before* anything was known?

# %%
before, after = shared.prior("disease")["B"], shared.pp(1, ["gender"], "disease", "B")
assert (round(before, 12), after) == (0.5, 1.0)
before, after

# %% [markdown]
# ## Mistakes: the same posterior is a linkage score
#
# An attacker who remembers the month well but mistakes the gender now and then sees a *noisy copy*.
# The posterior weighs the evidence by how likely it is under each record. That is Bayes, and it is
# what linkage scores approximate.

# %%
noisy = rb.records.record_network(
    table, seen={"birth": year, "gender": rb.records.Noisy(0.9)}, secret=["disease"]
)
score = noisy.posterior({"birth": "*/1970", "gender": "F"})
weights = np.array([0.1, 0.9, 0, 0, 0.1, 0.1])
assert np.allclose(score, weights / weights.sum())
score.round(3)

# %% [markdown]
# ## Is the target in the table at all?
#
# So far the attacker knows that the target is in the table (a *prosecutor*). Give the population
# 600 people: one more state, "someone else". If a share *q* of the others looks the same, the right
# guess has probability 1 / (f + (N - n) q), where f is the class size in the table.

# %%
population, share = 600, 0.01
journalist = rb.records.record_network(
    {"gender": table["gender"]}, population=population, others={("F",): share}
)
f = journalist.class_size(1)
assert np.isclose(journalist.match(1), 1 / (f + (population - 6) * share))
print(f"in the table {f} match; the guess is right with {journalist.match(1):.4f}, not 1/{f}")

# %% [markdown]
# ## Any engine, and pgmpy as it stands
#
# The record network is an attack like any other, so each engine answers it, and it *is* a pgmpy
# model. Here the question goes to pgmpy's own variable elimination.

# %%
from pgmpy.inference import VariableElimination

model = net.to_pgmpy()
factor = VariableElimination(model).query(
    ["record"], evidence={"sees_gender": "F"}, show_progress=False
)
assert np.allclose(factor.values, posterior)
print(factor)

# %% [markdown]
# ## So why count at all?
#
# Because a graph with a state per record is fine for hundreds and hopeless for millions. Counting
# gives the same numbers for real tables, and this network is how we know: the tests compare them on
# random tables, with missing values too.

# %%
people = rb.read_table(table, quasi_identifiers=["birth", "gender"], sensitive=["disease"])
assert people.class_sizes(["gender"]).tolist() == net.class_sizes(["gender"]).tolist()
assert people.k() == net.k() == 1

# %% [markdown]
# ## Reflect
#
# - Each of the five papers has an adversary of its own. Which of them would you put in a report?
# - The graph has a state per record. What in it would you have to *learn* from data, and what not?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {19: ..., 20: ..., 21: ...}.items():
    print(rb.lesson.check(number, answer))
