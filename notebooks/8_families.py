# %% [markdown]
# # Can my brother's record give mine away? Families, for the curious
#
# A record that says "father: heart attack at 52" tells of another record: the father's, if he is in
# the table. Whoever is named gives relatives away, and they give away theirs. After Popat et al.
# 2025. The families here are made up, so that the truth is known.

# %%
import reidbn as rb

families = rb.datasets.synthetic_families(60, seed=0)
kin = rb.read_kin(rb.read_sparse(families.table, features=families.features))
kin

# %% [markdown]
# ## Predict
#
# *One* record is named: through a news story, say. The attacker reads what it tells of relatives,
# looks for them, reads on, three rounds long. How many more people are named, on average?

# %%
guess = 1  # yours

# %% [markdown]
# ## Everybody as the first
#
# *Attackable* are relatives of whom something is told; *named* those for whom one record is
# likelier than all others and nobody together.

# %%
first_round = rb.neighbourhood(kin)
told = first_round.table()
assert (told["named"] <= told["attackable"]).all()
told.round(3)

# %% [markdown]
# ## One record
#
# Start at the record that gives most away. A claim is right or false; either way the attacker reads
# on. (The path is made of rows of the table.)

# %%
start = int(first_round.people["named"].to_numpy().argmax())
one = rb.neighbourhood(kin, start=start, rule="posterior", depth=3)
assert len(one.claims) > 0
one.claims[["round", "relation", "posterior", "path"]].round(3).head(8)

# %% [markdown]
# ## The reveal: three rounds

# %%
rounds = {depth: rb.neighbourhood(kin, depth=depth).measures["named"].value for depth in (1, 2, 3)}
assert rounds[1] < rounds[2] < rounds[3]
print(f"you said {guess}")
print({depth: f"{value:.1f}" for depth, value in rounds.items()})

# %% [markdown]
# ## Strict or likely?
#
# The paper's rule wants everything that is told to be found again, with one record fitting. Records
# are not that tidy: what a son tells of his father's illnesses is seldom all of them. The posterior
# weighs it.

# %%
strict = rb.neighbourhood(kin, rule="strict")
assert strict.measures["named"].value < first_round.measures["named"].value
print(f"strict {strict.measures['named'].value:.2f}, posterior {rounds[1]:.2f} named in one round")

# %% [markdown]
# ## As a graph
#
# The same in the small: does a genealogy site hold a relative, and does it lead to the name?

# %%
search = rb.load("family-search")
print(search.story)
rb.ask(search)

# %% [markdown]
# ## Reflect
#
# - The father never was in this hospital's consent form. Whose data is his heart attack?
# - Leaving the family history out protects. Which studies would it end?
# - A false claim names a stranger. Is that a smaller harm, or a larger one?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {22: ..., 23: ..., 24: ...}.items():
    print(rb.lesson.check(number, answer))
