# %% [markdown]
# # Everybody has four doubles. Are they safe? What k-anonymity promises, and what not
#
# A hospital says: "No name, no address. And nobody in the table is alone: we made sure that each
# patient looks like at least four others." That is **k-anonymity** with k = 5. What exactly is
# promised, what does it cost, and what is *not* promised?

# %%
import reidbn as rb

people = rb.read_table(
    rb.datasets.synthetic_patients(1_000, seed=7),
    quasi_identifiers=["age", "sex", "race"],
    sensitive=["diagnosis"],
    hierarchies={"age": rb.microdata.Bands(10)},
)
people

# %% [markdown]
# ## Predict
#
# A thousand made-up patients and three harmless columns: age, sex and race. How many of them are
# alone, with nobody else like them? And how many are alone by sex and race, without the age?

# %%
guess, guess_without_age = 50, 50  # yours

# %% [markdown]
# ## Counting classes
#
# People alike on what may be known form a **class**. The smallest class is k, and who is alone is
# in a class of one.

# %%
sizes = people.class_sizes(["sex", "race"])
alone = int((sizes == 1).sum())
assert people.k() == 1
print(
    f"by sex and race: you said {guess_without_age}, it is {alone}; k = {people.k(['sex', 'race'])}"
)

# %% [markdown]
# With the age it is another matter. For one column, and for every two: how many classes there are,
# and how many people are in a class of one. (All three together are an exercise.)

# %%
table = rb.subsets(people)
table[table["size"] < 3].round(4)

# %% [markdown]
# ## Coarser: one way to larger classes
#
# Ages in bands of ten years. Nothing is deleted, but a study that needs the age in years cannot use
# this table any more: protection has a price, and the price is paid by somebody else.

# %%
banded = people.generalise({"age": 1})
before, after = people.class_sizes(), banded.class_sizes()
assert (after >= before).all()
print(f"in a class under 5: {(before < 5).sum()} people, in bands {(after < 5).sum()}")

# %% [markdown]
# Some are still few. They can be left out, and `suppress` says how many that costs.

# %%
released = banded.suppress(5)
assert released.k() >= 5
print(f"k = {released.k()}, {len(people) - len(released)} of {len(people)} people are left out")

# %% [markdown]
# ## Limit one: who looks for a row, and who for a secret?
#
# Every class has five people and more. In a class where all have the same diagnosis, nobody has to
# find the row. That is the *homogeneity* attack, and k says nothing about it. How often is the best
# guess right, if everything but the diagnosis is known?

# %%
d = rb.disclosure(released, sensitive="diagnosis")
best = d.best_guess
assert best.max() > 1 / released.k()
print(f"found with at most 1 in {released.k()}, guessed right up to {best.max():.0%}")

# %% [markdown]
# ## Limit two: two releases
#
# Two hospitals release tables, each with k-anonymity. A patient who was in both is in a class of
# each, and only those who fit *both* are left. The shipped model has the story of [Ganta08]:

# %%
composition = rb.load("composition")
print(composition.story)
rb.ask(composition)

# %% [markdown]
# ## Limit three: what is *known*?
#
# k counts over the columns that somebody called quasi-identifiers. A neighbour may know the day of
# an admission, which nobody thought of. One more column, and k is another number:

# %%
more = rb.read_table(
    rb.datasets.synthetic_patients(1_000, seed=7),
    quasi_identifiers=["age", "sex", "race", "education", "tenure"],
    hierarchies={"age": rb.microdata.Bands(10)},
).generalise({"age": 1})
assert more.k() < released.k()
print(f"k = {more.k()}; {(more.class_sizes() == 1).mean():.0%} are alone")

# %% [markdown]
# And *with which probability* are they known? Classes do not say. That is what attack models are
# for: the next lesson.
#
# ## Reflect
#
# - Write the promise of k = 5 in one sentence that a patient understands, and that is true.
# - The suppressed people are safe. Who are they, mostly, and what does the study lose with them?
# - Who decides which columns are quasi-identifiers in your house?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {4: ..., 5: ..., 6: ...}.items():
    print(rb.lesson.check(number, answer))
