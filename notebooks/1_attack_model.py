# %% [markdown]
# # Will the neighbour find my line? What an attack model is
#
# A café's loyalty-card list leaks: no names, but age band, usual order, and a year of shopping.
# Your neighbour may have heard you order this morning. How likely is it that they find *your* line?
#
# A feeling ("unlikely", "1 in k") is not an answer that anybody can check. An **attack model** is:
# it says what would have to happen, step by step, with a number and a source for each step. This
# lesson reads one, asks it, changes it, and checks its answers in three ways.

# %%
import reidbn as rb

attack = rb.load("breakfast")
print(attack.story)

# %% [markdown]
# ## The story as a graph
#
# Each box is an event, each arrow says "depends on". Under the name stands what the event means, in
# italics the rule that makes it happen, and the numbers it uses. Assumptions are marked as such.

# %%
rb.draw(attack)

# %% [markdown]
# The same thing is a text file that can be read aloud, `models/breakfast.yaml`. Here is one event
# of it. Each number in the file must name its source, and "assumption" is an honest one.

# %%
text = rb.attack.dumps(attack)
start = text.index("  overheard:")
print(text[start : text.index("  listed:")])
assert len(attack.assumptions) == 4

# %% [markdown]
# ## Predict
#
# Four things have to happen: you were at the café (one half), were overheard there (one in five of
# such mornings), are on the list (one half), and the right one of five lines is picked. Say a
# number before you go on, and then another one: the same, if you *know* that you were overheard.

# %%
guess, guess_if_overheard = 0.05, 0.2  # yours

# %% [markdown]
# ## Asking
#
# A question is *node = state*. The answer comes with the probability of what was given, because an
# answer about something that hardly ever happens should be read as such.

# %%
answer = rb.ask(attack, "identified=yes")
answer

# %% [markdown]
# All four things must happen, so this one can be done by hand: at the café, overheard *if* you were
# there (nobody overhears who is elsewhere), on the list, and right with one of five guesses. The
# second number is a chance given the first, and the other two hang on nothing: multiply.

# %%
by_hand = 0.5 * 0.2 * 0.5 * (1 / 5)
assert abs(float(answer) - by_hand) < 1e-15
by_hand

# %%
overheard = rb.ask(attack, "identified=yes", given={"overheard": "yes"})
assert abs(float(overheard) - 0.1) < 1e-15
print(f"you said {guess} and {guess_if_overheard}; it is {by_hand:g} and {float(overheard):g}")

# %% [markdown]
# ## Seeing is not doing
#
# *Given* that you were overheard, you were surely at the café: evidence travels against the arrows.
# *Doing* something, such as a planted rumour of your order, tells nothing about where you were.

# %%
seen = rb.ask(attack, "breakfast=yes", given={"overheard": "yes"})
done = rb.ask(attack, "breakfast=yes", do={"overheard": "yes"})
assert float(seen) == 1.0
assert abs(float(done) - 0.5) < 1e-15
print(seen, "but", done)

# %% [markdown]
# Evidence of *nothing happening* counts too. Nobody overheard you: that makes it less likely that
# you were there at all.

# %%
nobody = rb.ask(attack, "breakfast=yes", given={"overheard": "no"})
assert abs(float(nobody) - 0.5 * 0.8 / 0.9) < 1e-15
print(nobody, "and nobody overhears with probability", round(nobody.evidence_probability, 3))

# %% [markdown]
# ## What if?
#
# The number of customers alike (the *class size*) is a choice of whoever publishes the list: wider
# age bands, fewer products. One call asks at every setting.

# %%
table = rb.sweep(attack, "identified=yes", {"alike": [1, 2, 5, 20], "p_listed": [0.5, 0.9]})
assert abs(table["probability"].max() - 0.09) < 1e-12
table.round(5)

# %% [markdown]
# Which of the numbers matters most? Move each over its own range, alone. The answer is not "the
# one that we know least" nor "the largest": it is the one with the longest bar.

# %%
tornado = rb.tornado(attack, "identified=yes")
print(tornado)
assert tornado.bars[0].parameter == "alike"

# %% [markdown]
# ## Why believe it?
#
# Three engines share nothing but the tables: exact elimination, brute force over all cases, and a
# simulation in which each event *acts its story out*. `crosscheck` compares them, says how small an
# error it would have caught, and also asks pgmpy, an independent library.

# %%
check = rb.crosscheck(attack, draws=200_000, seed=1)
print(check)
brute = rb.ask(attack, "identified=yes", engine="enumeration")
assert abs(float(brute) - float(answer)) < 1e-15

# %% [markdown]
# ## Your own adversary
#
# An attack is data: copy it, add a node, and it is checked at once. Say a barista also knows you by
# name, half of the time you are there, and needs no guess.

# %%
barista = rb.attack.Node(
    "known_by_name",
    ("no", "yes"),
    rb.cpd.Probability("$p_barista", ("breakfast",)),
    ("breakfast",),
    story="The barista knows your name and your card",
)
either = rb.attack.Node("found", ("no", "yes"), rb.cpd.Or(), ("identified", "known_by_name"))
wider = attack.replace(
    parameters=attack.parameters.replace(
        rb.attack.Parameter("p_barista", 0.5, source="assumption")
    ),
    nodes=attack.nodes.replace(barista, either),
)
risk = rb.ask(wider, "found=yes")
assert abs(float(risk) - (0.5 * (1 - (1 - 0.02) * (1 - 0.5)))) < 1e-15
risk

# %% [markdown]
# What does not fit together never becomes an attack. All problems come at once, with their
# addresses:

# %%
try:
    wider.with_node(
        rb.attack.Node("alarm", ("no", "yes"), rb.cpd.Probability("$p_alram"), ("breakfest",))
    )
except rb.errors.ModelError as problem:
    message = str(problem)
print(message)
assert 'did you mean "breakfast"' in message
assert 'no parameter "p_alram"' in message

# %% [markdown]
# ## Reflect
#
# - Which of the four numbers could *you* find a source for, and what would it cost?
# - The café says: one in a hundred is nothing. The list has 4,000 customers. Is it nothing?
# - What does this story leave out? (`rb.coverage(attack)` has a list.)

# %% [markdown]
# ## Exercises
#
# Put your answers in the place of `...`; three digits are enough. A wrong answer gets a hint.

# %%
for number, answer in {1: ..., 2: ..., 3: ...}.items():
    print(rb.lesson.check(number, answer))
