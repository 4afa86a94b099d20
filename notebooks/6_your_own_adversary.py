# %% [markdown]
# # What would *your* neighbour need to know? Write your own adversary
#
# All attacks so far were somebody else's. Yours is a page of text: who does what, what leads to
# what, and for every number a source, or the honest word *assumption*. Somebody began one:

# %%
import reidbn as rb

text = rb.lesson.began("nosy-neighbour")
print(text)

# %%
attack = rb.attack.loads(text)
rb.draw(attack)

# %% [markdown]
# ## Predict
#
# The neighbour may be at the window, may remember the day, and picks among those who came on it.
# Say the risk, and say which of the three numbers moves it most over its range.

# %%
guess, guess_most = 0.1, "p_day"  # yours

# %%
answer = rb.ask(attack)
assert abs(float(answer) - 0.4 * 0.5 / 3) < 1e-15
print(f"you said {guess}; {answer}")

# %% [markdown]
# ## Mistakes are found together
#
# A number without a source, a name that is nowhere, rows that do not sum: such a file is no attack.
# All problems come at once, with the line and what would be right.

# %%
broken = text.replace("source: assumption", "", 1).replace("parents: [saw]", "parents: [sow]")
try:
    rb.attack.loads(broken)
except rb.errors.ModelError as problem:
    message = str(problem)
print(message)
assert 'did you mean "saw"' in message

# %% [markdown]
# ## Add one thing that you know of
#
# The nurse at the desk is a cousin of the neighbour, and talks. Another way to be found, so the
# risk is that *one of the two* happens. Where is the number from? If you do not know, say so.

# %%
nurse = """\
  nurse_talks:
    story: The nurse tells the neighbour which line it is
    cpd: {kind: probability, p: $p_talks}
    linddun: [Data disclosure]
  either:
    story: Found by the day, or through the nurse
    parents: [found, nurse_talks]
    cpd: {kind: or}
"""
number = """\
  p_talks:
    value: 0.02
    range: [0.001, 0.1]
    source: assumption
    story: The nurse talks
"""
mine = rb.attack.loads(
    text.replace("nodes:\n", number + "nodes:\n", 1)
    .replace("questions:\n", nurse + "questions:\n")
    .replace("target: found=yes", "target: either=yes")
)
risk = float(rb.ask(mine))
assert abs(risk - (1 - (1 - 0.4 * 0.5 / 3) * (1 - 0.02))) < 1e-15
print(f"{float(answer):.4f} without the nurse, {risk:.4f} with")

# %% [markdown]
# ## What would settle it?
#
# The tornado moves every number over its own range, alone. It does not say which number is wrong,
# but which one is worth a source.

# %%
tornado = rb.tornado(mine)
print(f"you said {guess_most}")
print(tornado)

# %% [markdown]
# ## Is it computed right?
#
# The story was acted out 200,000 times, and pgmpy was asked the same.

# %%
check = rb.crosscheck(mine, draws=200_000, seed=1)
print(check)
assert check.passed

# %% [markdown]
# ## What did you not model?
#
# Threats have names (LINDDUN), so that one can see which of them no event is about. Leaving one out
# is fine; `excluded:` in the file says why.

# %%
print(rb.coverage([mine]))

# %% [markdown]
# ## Reflect
#
# - Which of your numbers would somebody else in the room have set otherwise? Ask them.
# - The nurse is two lines of text. What is the *institution's* story behind these two lines?
# - Who is missing: who would never be at the window, and finds everybody?
#
# With a file of your own: `reidbn new my-attack.yaml`, then `reidbn check`, `ask`, `draw`.

# %% [markdown]
# ## Exercises
#
# They are about the neighbour as begun, without the nurse. Put your answers in the place of `...`;
# three digits are enough, and 17 wants a name. A wrong answer gets a hint.

# %%
for number_of, mine_is in {16: ..., 17: ..., 18: ...}.items():
    print(rb.lesson.check(number_of, mine_is))
