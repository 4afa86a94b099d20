"""The exercises of the lessons: each with its answer and the usual wrong ones, worked out anew.

STOP HERE if you are a student: `rb.lesson.check(number, answer)` gives hints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import reidbn as rb
from reidbn.lesson.began import NEIGHBOUR

Worked = Callable[[], Any]


@dataclass(frozen=True)
class Exercise:
    """One exercise; what it is worth and what goes wrong are functions, called when needed."""

    asks: str
    answer: Worked
    hint: str
    so: str = ""
    """What is to be seen in it, said when it is right."""
    usual: tuple[tuple[Worked, str], ...] = ()
    is_probability: bool = False
    also: tuple[str, ...] = ()
    """Other words for the answer, in small letters."""


def _breakfast(question: str, **asked: Any) -> float:
    return float(rb.ask("breakfast", question, **asked))


@cache
def _at_one_in_500() -> int:
    """Where the risk has fallen to 1 in 500: it falls with the number alike."""
    swept = rb.sweep("breakfast", "identified=yes", {"alike": list(range(1, 41))})
    return int(swept["alike"][swept["probability"] <= 1 / 500 * (1 + 1e-12)].iloc[0])


# -- 2: k-anonymity ----------------------------------------------------------------------------


@cache
def _patients() -> Any:
    return rb.read_table(
        rb.datasets.synthetic_patients(1_000, seed=7),
        quasi_identifiers=["age", "sex", "race"],
        sensitive=["diagnosis"],
        hierarchies={"age": rb.microdata.Bands(10)},
    )


def _ward() -> Any:
    """Six alike by bands, of whom four share an illness; and others."""
    table = {
        "age": ["40-49"] * 6 + ["50-59"] * 5,
        "illness": ["cancer"] * 4 + ["asthma"] * 2 + ["asthma", "gout", "cancer", "flu", "ulcer"],
    }
    people = rb.read_table(table, quasi_identifiers=["age"], sensitive=["illness"])
    return rb.disclosure(people, sensitive="illness")


# -- 3: three routes -----------------------------------------------------------------------------


@cache
def _together() -> Any:
    people = rb.read_table(
        rb.datasets.synthetic_patients(3_000, seed=1),
        quasi_identifiers=["age", "sex", "state", "race"],
        subject_id="patient_id",
        hierarchies={"age": rb.microdata.Bands(10)},
    )
    voter = rb.assess(
        "adversary-routes", people, scenario="voter-registration", population=6_900_000
    )
    return rb.what_if(voter, together=True)


def _without_age() -> float:
    return float(rb.what_if(_together(), without=["birth_year"]).risk().mean())


def _adds_most(place: int) -> str:
    return str(_together().summary().drivers.table()["group"].iloc[place])


# -- 5: neighbours ---------------------------------------------------------------------------------


def _five() -> Any:
    table = {
        "diagnosis": ["cancer", "cancer", "cancer", "arthrosis", "diabetes"],
        "gender": ["female", "male", "female", "male", "female"],
        "age": ["45-54", "35-44", "35-44", "55-64", "45-54"],
    }
    return rb.read_table(table, quasi_identifiers=["gender", "age"], sensitive=["diagnosis"])


def _plausible(known: list[str]) -> float:
    """How often a guess is wrong for the man of 55 to 64."""
    return float(rb.disclosure(_five(), sensitive="diagnosis", known=known).ppp_full[3])


@cache
def _eight() -> Any:
    columns = ["age", "sex", "race", "education", "marital", "income", "tenure", "diagnosis"]
    return rb.read_table(rb.datasets.synthetic_patients(3000, seed=4), quasi_identifiers=columns)


# -- 6: your own adversary -------------------------------------------------------------------------


def _neighbour() -> Any:
    return rb.attack.loads(NEIGHBOUR)


def _found(**asked: Any) -> float:
    return float(rb.ask(_neighbour(), "found=yes", **asked))


# -- 7: record network, 8: families ----------------------------------------------------------------


def _birth_years(*, extra: bool = False) -> Any:
    years = ["1970", "1970", "1960", "1960", "1970", "1970", *(["1960"] if extra else [])]
    gender = ["M", "F", "F", "F", "M", "M", *(["M"] if extra else [])]
    return rb.records.record_network({"birth": years, "gender": gender}, secret=["gender"])


def _unsure() -> float:
    birth = ["02/09/1970", "20/09/1970", "01/08/1960", "02/08/1960", "25/08/1970", "30/08/1970"]
    table = {"birth": birth, "gender": ["M", "F", "F", "F", "M", "M"]}
    year = {date: f"*/{date[-4:]}" for date in birth}
    seen = {"birth": year, "gender": rb.records.Noisy(0.7)}
    net = rb.records.record_network(table, seen=seen)
    return float(net.posterior({"birth": "*/1970", "gender": "F"})[1])


@cache
def _kin() -> Any:
    families = rb.datasets.synthetic_families(60, seed=0)
    return rb.read_kin(rb.read_sparse(families.table, features=families.features))


@cache
def _relatives(rule: str = "posterior", depth: int = 1) -> Any:
    return rb.neighbourhood(_kin(), rule=rule, depth=depth)


def _share(relative: str, column: str, rule: str = "posterior") -> float:
    return float(_relatives(rule).table().loc[relative, column])


# -- 9: the least change -------------------------------------------------------------------------


@cache
def _released() -> Any:
    return rb.read_table(
        rb.datasets.synthetic_patients(1_500, seed=1),
        quasi_identifiers=["age", "sex", "state", "race", "education", "marital"],
    )


@cache
def _five_alike(share: float) -> Any:
    bands = {"age": "bands:5,10,20"}
    return rb.recommend(_released(), target="k=5", hierarchies=bands, suppress_at_most=share)


def _under_the_list(column: str) -> int:
    """Whose limit one level finer of a column breaks."""
    plan = rb.recommend(
        _released(), "adversary-routes", known="voter-registration", population=6_900_000,
        unknown=["education", "marital"], target={"overall": 0.09}, suppress_at_most=0.02,
        hierarchies={"age": "bands:5,10,20"},
    )  # fmt: skip
    return int(plan.binding.set_index("column").people[column])


def _fewest_for_one_half(secrets: str) -> int:
    """Over every choice of who is left out."""
    n = len(secrets)
    return min(
        n - size
        for size in range(1, n + 1)
        for left in combinations(secrets, size)
        if max(left.count(own) for own in left) <= size / 2
    )


EXERCISES: dict[int, Exercise] = {
    1: Exercise(
        "With at least 20 customers alike, how likely is it that the neighbour finds your line?",
        lambda: _breakfast("identified=yes", set={"alike": 20}),
        "Ask again with set={'alike': 20}.",
        "A larger class divides the risk, and nothing else of the story has changed.",
        ((lambda: 1 / 20, "That is the guess alone: it is made only if the other things happened."),
         (lambda: _breakfast("identified=yes"), "That is the risk as the list is now.")),
        is_probability=True,
    ),
    2: Exercise(
        "Given that the neighbour did find your line, how likely were you on the list?",
        lambda: _breakfast("listed=yes", given={"identified": "yes"}),
        "What must be so, if the line that was found is yours?",
        "Evidence travels against the arrows.",
        ((lambda: _breakfast("listed=yes"),
          "That is how likely it was before anything was learnt."),),
        is_probability=True,
    ),
    3: Exercise(
        "From how many customers alike on is the risk under 1 in 500?",
        lambda: 1.0 + _at_one_in_500(),
        "Sweep alike, and look for the first that is under.",
        "At the number before, it is exactly 1 in 500, and that is not under it.",
        (
            (lambda: float(_at_one_in_500()), "There it is exactly 1 in 500: is that under it?"),
            (lambda: 500.0, "500 alike would make the guess alone 1 in 500."),
        ),
    ),
    4: Exercise(
        "How many of the 1,000 patients are alone on age, sex and race?",
        lambda: float((_patients().class_sizes() == 1).sum()),
        "class_sizes() has a number for each person.",
        "Three harmless columns are enough for them.",
        ((lambda: float((_patients().class_sizes() == 1).mean()),
          "That is their share; how many people are they?"),
         (lambda: float(len(_patients().classes().histogram())),
          "That counts kinds of classes, not people.")),
    ),
    5: Exercise(
        "With ages in bands of ten years, what is k on age and sex?",
        lambda: float(_patients().generalise({"age": 1}).k(["age", "sex"])),
        "people.generalise({'age': 1}).k(['age', 'sex'])",
        "k is about the one who is worst off.",
        ((lambda: float(_patients().k(["age", "sex"])), "That is k with ages in years."),
         (lambda: float(_patients().generalise({"age": 1}).class_sizes(["age", "sex"]).max()),
          "That is the largest class; k is the smallest.")),
    ),
    6: Exercise(
        "Six are alike, so nobody is found with more than 1 in 6. Four of them have cancer. How "
        "often is the best guess at the illness of one of them right?",
        lambda: float(_ward().best_guess[0]),
        "Which value would you name, knowing nothing but the band?",
        "k-anonymity is about rows, not about what stands in them.",
        ((lambda: 1 / 6, "That is the chance to find the row; nobody has to find it."),
         (lambda: float(1 - _ward().best_guess[0]), "That is how often it is wrong.")),
        is_probability=True,
    ),
    7: Exercise(
        "By how much does the mean overall risk fall if the attacker never learns the age?",
        lambda: float(_together().risk().mean()) - _without_age(),
        "Subtract the two means.",
        "One column less, everybody's.",
        ((_without_age, "That is what is left; by how much did it fall?"),
         (lambda: _without_age() - float(_together().risk().mean()), "A fall is said without its "
          "minus sign.")),
    ),
    8: Exercise(
        "Which attribute adds most to the mean risk?",
        lambda: _adds_most(0),
        "summary().drivers.table() has the largest first.",
        "It is not the rarest value that counts, but how finely the column parts people.",
        ((lambda: _adds_most(1), "That is the second."),),
        also=("age",),  # which the scenario calls birth_year
    ),
    9: Exercise(
        "At which p_c is the mean overall risk of the release as it is 0.1?",
        lambda: float(rb.solve(_together(), "p_c", target=0.1)),
        "rb.solve(together, 'p_c', target=0.1)",
        "Controls move an assumption; who vouches for it?",
        ((lambda: 0.1, "That is the risk that is wanted, not the chance of a claim."),),
        is_probability=True,
    ),
    10: Exercise(
        "Three of ten patients leak. What is the risk of somebody in the class of four?",
        lambda: rb.leak.risk(records=10, leaked=3, class_size=4),
        "rb.leak.risk, with the other class.",
        "Larger classes protect, each further member less than the one before.",
        ((lambda: 3 / 10 / 4, "The guess is among those who leaked, seldom all four."),
         (lambda: rb.leak.risk(records=10, leaked=3, class_size=3), "That is the class of three."),
         (lambda: 1 / 4, "That would be so if everybody had leaked.")),
        is_probability=True,
    ),
    11: Exercise(
        "1,000 of 10,000 leak. How large must classes be to keep the risk at or under 0.09?",
        lambda: float(rb.leak.smallest_k(records=10_000, leaked=1_000, threshold=0.09)),
        "rb.leak.smallest_k",
        "Nine in ten are not in the leak, and need no class.",
        ((lambda: float(rb.leak.smallest_k(records=10_000, leaked=4_000, threshold=0.09)),
          "That is for a leak of 4,000."),),
    ),
    12: Exercise(
        "Classes of 1 and 3: all four leak, and two are looked for. How likely is at least one "
        "found?",
        lambda: rb.leak.number_identified({1: 1, 3: 1}, leaked=4, targets=2).at_least(1),
        "rb.leak.number_identified({1: 1, 3: 1}, ...).at_least(1)",
        "With classes of 2 and 2 it is less: a mean class size says little.",
        ((lambda: rb.leak.number_identified({2: 2}, leaked=4, targets=2).at_least(1),
          "That is the table with classes of 2 and 2."),
         (lambda: rb.leak.joint_risk({1: 1, 3: 1}, leaked=4, targets=2),
          "That is the chance that both are found.")),
        is_probability=True,
    ),
    13: Exercise(
        "In the table of five: only the gender is known. How often is a guess drawn from the peers "
        "wrong for the man of 55 to 64?",
        lambda: _plausible(["gender"]),
        "Who are his peers, and which of them have another diagnosis?",
        "Knowing more was worse for him, and better for the first woman.",
        ((lambda: _plausible(["gender", "age"]), "That is with his age known, too."),
         (lambda: 2 / 5, "His peers are those of his gender, not all five.")),
        is_probability=True,
    ),
    14: Exercise(
        "Which share of people is protected (PPP above 0) for income, if ages are known in bands "
        "of ten only?",
        lambda: rb.disclosure(_eight(), "income", ranges={"age": 10}).share_upward(),
        "rb.disclosure(patients, 'income', ranges={'age': 10}).share_upward()",
        "A blur of what is known protects what is not.",
        ((lambda: rb.disclosure(_eight(), "income").share_upward(), "That is with ages in years."),
         (lambda: 1 - rb.disclosure(_eight(), "income", ranges={"age": 10}).share_upward(),
          "Those are the ones who are given away.")),
        is_probability=True,
    ),
    15: Exercise(
        "How often is the best guess at somebody's sex right, on average, where all else is known "
        "and their own record does not count?",
        lambda: float(rb.disclosure(_eight(), "sex").best_guess_without_own.mean()),
        "best_guess_without_own.mean()",
        "About a coin: the certainty came from their own record.",
        ((lambda: float(rb.disclosure(_eight(), "sex").best_guess.mean()),
          "That counts their own record, which gave most of it away."),),
        is_probability=True,
    ),
    16: Exercise(
        "What is the risk if twelve people came on that day?",
        lambda: _found(set={"alike": 12}),
        "set={'alike': 12}",
        "The one who writes the list decides how many share a day.",
        ((lambda: 1 / 12, "That is the pick alone."), (_found, "That is with three.")),
        is_probability=True,
    ),
    17: Exercise(
        "Which number moves the risk most over its own range?",
        lambda: str(rb.tornado(_neighbour(), "found=yes").bars[0].parameter),
        "rb.tornado: the longest bar is the first.",
        "So this is the number to find a source for.",
        ((lambda: str(rb.tornado(_neighbour(), "found=yes").bars[1].parameter),
          "That is the second bar."),),
    ),
    18: Exercise(
        "How unlikely must it be that the neighbour is at the window, for a risk of 0.05?",
        lambda: float(rb.solve(_neighbour(), "found=yes", "p_seen", 0.05)),
        "rb.solve(attack, 'found=yes', 'p_seen', 0.05)",
        "Curtains are a control, too; is it one that you can promise?",
        ((lambda: 0.05, "That is the risk that is wanted."),),
        is_probability=True,
    ),
    19: Exercise(
        "Only the year of birth is seen. What is k?",
        lambda: float(_birth_years().k()),
        "How many share the rarer year?",
        "Both who share it are worst off.",
        ((lambda: 1.0, "That is with the whole date."),
         (lambda: float(max(_birth_years().class_size(i) for i in range(6))),
          "That is the largest class; k is the smallest.")),
    ),
    20: Exercise(
        "The year is seen surely, the gender right in 70 % of cases. How likely is it the second "
        "person (number 1) after \"1970, F\"?",
        _unsure,
        "Bayes: each of the four of 1970 could have been seen as F.",
        "A blurred look is still a look.",
        ((lambda: 1 / 4, "So it would be if the gender told nothing."),
         (lambda: 0.7, "That is how often the gender is seen right, not who it is.")),
        is_probability=True,
    ),
    21: Exercise(
        "A seventh person joins, born in 1960 and a man. How many are then alike with the third "
        "person (number 2) on the year of birth?",
        lambda: float(_birth_years(extra=True).class_size(2)),
        "class_size(2) of the network with seven rows.",
        "Who joins protects those who are like them.",
        ((lambda: float(_birth_years().class_size(2)), "That is before."),),
    ),
    22: Exercise(
        "Of the records whose father can be attacked, of which share is somebody named as the "
        "father?",
        lambda: _share("father", "named of attackable"),
        "table(), the row of the father.",
        "What is not told cannot be attacked, and is not the same as no match.",
        ((lambda: _share("father", "named"), "That is of all records."),
         (lambda: _share("father", "attackable"), "That is how many can be attacked.")),
        is_probability=True,
    ),
    23: Exercise(
        "By the strict rule, of which share of all records is a sibling named?",
        lambda: _share("sibling", "named", "strict"),
        "rule='strict'",
        "A rule that wants everything told to be found again misses much where little is told.",
        ((lambda: _share("sibling", "named"), "That is by the posterior."),),
        is_probability=True,
    ),
    24: Exercise(
        "How many people does one record name in three rounds, on average?",
        lambda: float(_relatives(depth=3).measures["named"].value),
        "depth=3, and measures['named'].",
        "Each of them never signed anything.",
        ((lambda: float(_relatives(depth=1).measures["named"].value), "That is one round."),),
    ),
    25: Exercise(
        "With nobody left out, how large is the loss of the least change that keeps k = 5?",
        lambda: float(_five_alike(0.0).best.loss),
        "rb.recommend(people, target='k=5', hierarchies=...), without suppress_at_most; best.loss.",
        "A few people left out save a column for everybody else: the price is theirs.",
        ((lambda: float(_five_alike(0.02).best.loss), "That is with 2 % left out."),),
    ),
    26: Exercise(
        "Under the voter list, for how many of the released would the limit break if the state "
        "stayed as it is?",
        lambda: float(_under_the_list("state")),
        "binding, the row of the state.",
        "A column that is on the list, and finer than age.",
        ((lambda: float(_under_the_list("age")), "That is one level of age."),),
    ),
    27: Exercise(
        "Four are written alike; three have asthma and one has gout. How many must be left out at "
        "least, so that nobody's best guess is right more than half the time?",
        lambda: float(_fewest_for_one_half("AAAB")),
        "Try each choice: who is left, and what is their commonest illness?",
        "k counts rows. A limit on a secret may ask for more, and who goes is a choice.",
        ((lambda: 1.0, "Then two of three still have asthma."),
         (lambda: 4.0, "That is everybody; is there no smaller choice?")),
    ),
}  # fmt: skip
