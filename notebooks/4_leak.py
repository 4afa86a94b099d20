# %% [markdown]
# # Part of a table leaks: who is found?
#
# A hospital publishes an anonymised table. Later somebody copies part of it and looks for people
# they know. How likely is it that they find them? After Antoniou et al. 2022, *Assessing the risk
# of re-identification arising from an attack on anonymised data*.
#
# Ten patients, three leaked: small enough to count on paper.

# %%
from fractions import Fraction
from itertools import combinations

import reidbn as rb

hospital = rb.datasets.toy_hospital()
hospital.anonymised

# %% [markdown]
# The ages and postcodes were made coarse until every patient has at least two others who look the
# same: **classes** of 3, 3 and 4. Patients may have several admissions; a class counts patients.

# %%
people = hospital.people()
people.classes()

# %% [markdown]
# Here is the leak, and what an acquaintance knows of one patient, John Doe.

# %%
print(hospital.target)
hospital.leak

# %% [markdown]
# John Doe's sex, age, postcode and ethnicity fit a class of k = 3. Two of its three patients are in
# this leak, so the acquaintance would guess, and be wrong: John Doe is not in it.

# %% [markdown]
# ## Predict
#
# John Doe is in a class of three; three of ten patients leak. A colleague says: "3/10 to be in the
# leak, 1/3 to be picked, so one in ten." More, less, or just that?

# %%
guess = 0.1  # yours

# %% [markdown]
# ## Before the leak is seen
#
# The hospital cannot know which L = 3 patients will leak. So average over all 120 possible leaks.
# With h of the class in the leak, John Doe is among them with probability h/k, and the guess is
# right with 1/h. Only "at least one of the class leaked" is left:
#
# P(found) = (P(H = 1) + P(H = 2) + ...) / k = (1 - P(H = 0)) / k.

# %%
john, alike = 0, {0, 1, 2}
leaks = list(combinations(range(10), 3))
counted = sum(Fraction(1, len(alike & set(leak))) for leak in leaks if john in leak) / len(leaks)
counted, float(counted)

# %%
risk = rb.leak.risk(records=10, leaked=3, class_size=3)
assert abs(risk - counted) < 1e-15
risk

# %%
print(f"you said {guess}, the colleague 0.1; it is {risk:.4f}, for the leaked of a class are fewer")
assert risk > 0.1

# %% [markdown]
# The same as a graph, answered by the exact engine and by pgmpy. The graph is about a patient of
# whom nobody has said which: six of the ten are in classes of three and four in the class of four,
# and its answer is the mean over all ten. *Given* a class of three it is John Doe's again. It can
# also be asked backwards: somebody was identified, so how large was the class?

# %%
for engine in ("exact", "pgmpy", "enumeration"):
    print(f"{engine:<12}", rb.ask("leak-classes", "identified=yes", engine=engine))
of_three = rb.ask("leak-classes", "identified=yes", given={"class_size": "3"})
print(f"given a class of three: {float(of_three):.4f}")
assert abs(float(of_three) - risk) < 1e-12
rb.ask("leak-classes", "class_size=3", given={"identified": "yes"})

# %% [markdown]
# ## A real hospital
#
# D = 10,000 patients, classes of k, and L of them leaked. A patient alone in a class is found
# whenever in the leak. Each further member helps less than the one before.

# %%
rb.leak.k_curve(records=10_000, leaked=4_000, class_sizes=range(1, 9)).round(4)

# %% [markdown]
# So one can design backwards: how large must classes be to keep the risk under 0.09?

# %%
k = rb.leak.smallest_k(records=10_000, leaked=4_000, threshold=0.09)
largest = rb.leak.largest_leak(records=10_000, class_size=5, threshold=0.09)
assert k == 12
print(f"classes of {k} for a leak of 4,000; with classes of 5, no leak above {largest:,}")

# %% [markdown]
# A mean hides much. Before the leak is seen, this patient's risk is 0 with probability 0.6 (not in
# the leak), and 1 with probability 0.05 (alone of the class in it).

# %%
target = rb.leak.given_target(records=10_000, leaked=4_000, class_size=5)
assert abs(target.mean - rb.leak.risk(records=10_000, leaked=4_000, class_size=5)) < 1e-15
target.table().round(4)

# %% [markdown]
# ## Many targets
#
# Now somebody looks for n patients. Who was identified is out of the running for the next. The
# chance that *all* of them are found has an exact answer in polynomial time; so has the whole
# distribution of *how many*.

# %%
all_of_them = rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15)
some = rb.leak.number_identified({5: 2000}, leaked=4_000, targets=15)
print(
    f"all 15: {all_of_them:.4g};  at least one: {some.at_least(1):.4f};  expected: {some.mean:.4f}"
)
assert some.at_least(1) > 0.95

# %% [markdown]
# All fifteen: never. At least one: almost surely. Which of the two is "the risk" is a question
# about the harm, not about the mathematics.
#
# The paper computes the first with a recursion that treats the rest of the leak as a fresh one
# after every success. That forgets something: a success makes it likelier that few of that class
# leaked.

# %%
recursion = rb.leak.joint_risk({5: 2000}, leaked=4_000, targets=15, method="recursion")
print(f"recursion {recursion:.6g}, {recursion / all_of_them - 1:+.2%}")
for classes, leaked, n in [({2: 3}, 4, 2), ({3: 1, 1: 1}, 3, 2), ({7: 1, 1: 2}, 5, 4)]:
    exact = rb.leak.joint_risk(classes, leaked=leaked, targets=n)
    close = rb.leak.joint_risk(classes, leaked=leaked, targets=n, method="recursion")
    print(f"classes {classes}, L = {leaked}, n = {n}: exact {exact:.4f}, {close / exact - 1:+.1%}")

# %% [markdown]
# The unrolled network of two targets keeps that memory, so pgmpy gives the exact value.

# %%
graph = rb.leak.as_attack({2: 3}, leaked=4, targets=2)
answer = float(rb.ask(graph, "all_identified=yes", engine="pgmpy"))
assert abs(answer - 16 / 75) < 1e-12
answer

# %% [markdown]
# Acting the leak out gives the same, give or take: its interval holds the exact 16/75 in 19 of 20
# seeds.

# %%
rb.leak.joint_risk({2: 3}, leaked=4, targets=2, method="simulation", draws=100_000, seed=0)

# %% [markdown]
# ## When to claim
#
# The attacker sees h candidates. Is it wise to wait for h = 1? Given h the target is in the leak
# with h/k, and picked with 1/h: a claim is right once in k, *whatever h is*. Waiting pays only for
# somebody who knows that the target is in the leak.

# %%
for rule in ("guess", "only one"):
    blind = rb.leak.claims(records=10_000, leaked=4_000, class_size=5, rule=rule)
    knows = rb.leak.claims(
        records=10_000, leaked=4_000, class_size=5, rule=rule, known_in_leak=True
    )
    print(f"{rule:<9} precision {blind.precision:.3f}; knowing membership {knows.precision:.3f}")

# %% [markdown]
# ## Reflect
#
# - "All fifteen are found: never. At least one: almost surely." Which of the two would you report,
#   and to whom?
# - The hospital cannot know how much will leak. What would you do with an L from 100 to 4,000?
# - The formula of a paper was 1 % off, or 20 %, or right. How would you have found out?

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {10: ..., 11: ..., 12: ...}.items():
    print(rb.lesson.check(number, answer))
