"""One hostile case of each family; each takes a random generator and a folder of its own."""

import copy
import io
import shutil
from functools import cache

import numpy as np
import pandas as pd
import wrong_calls
from ruamel.yaml import YAML

import reidbn as rb
from reidbn.attack import models_folder, scenarios_folder
from reidbn.inference import enumeration, lower, read_query


class Wrong(AssertionError):
    """A second way gives another answer."""


class Skipped(Exception):
    """What the case needs is not on this machine."""


def same(one, other, what):
    if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
        raise Wrong(f"{what}: the second way says something else")


# -- text that is damaged --------------------------------------------------------------------------

TOKENS = ["", " ", "\n", "\t", ":", ",", "-", "{", "}", "[", "]", "(", ")", ";", '"', "'", "#", "|",
          "&a", "*a", "!!python/object:os.system", "$", "@", "%", "\0", "\x1b", "\ufeff", "\u202e",
          "é", "𝟙", "0", "-1", "1e400", "nan", ".inf", "999999999999999999999", "0x10", "1_000",
          "null", "true", "no", "yes", "states", "parents", "cpd", "kind", "table", "probability",
          "variable", "<", ">", "/>", "<!ENTITY a 'a'>", "&lt;", "<a>", "]]>"]  # fmt: skip
VALUES = [None, 0, 1, -1, 0.5, 2.5, float("nan"), float("inf"), 1e308, 10**30, "", "a", "nonsense",
          "$p", "@c", True, [], {}, [None], ["a"], [[]], {"a": None}, {"kind": "and"},
          {"kind": None}, "5..2", "0..$k", "0..99999999999", [0.5, 0.5], {"yes": 1}, "a=yes", "=",
          "no", ["no", "no"], [1, 2, 3], {"p": [1, 2]}, "1/0", "2 ^ 9999"]  # fmt: skip


def damaged_text(text, rng):
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        gone = rng.choice([0, 0, 1, 1, 2, 5, 30])
        put = rng.choice(TOKENS) if rng.random() < 0.7 else text[start : start + 40]
        text = text[:start] + put + text[start + gone :]
    return text


def places(data, where=()):
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*where, key)
        if isinstance(value, dict | list):
            yield from places(value, (*where, key))


def damaged_data(data, rng):
    data = copy.deepcopy(data)
    for _ in range(rng.randint(1, 2)):
        spots = list(places(data))
        if not spots:
            return data
        *where, key = rng.choice(spots)
        here = data
        for part in where:
            here = here[part]
        deed = rng.random()
        if deed < 0.4:
            here[key] = copy.deepcopy(rng.choice(VALUES))
        elif deed < 0.7 and isinstance(here[key], int | float) and not isinstance(here[key], bool):
            here[key] = rng.choice([here[key] / 2, here[key] * 2, -here[key], 1 - here[key]])
        elif deed < 0.85 and isinstance(here, dict):
            here[rng.choice(["x", "state", "kind", "parents", "p", "rows", "cpd"])] = here.pop(key)
        else:
            del here[key]
    return data


# -- models ----------------------------------------------------------------------------------------

MOST_WORLDS = 3_000


def written(data):
    """The content as YAML again, whatever it is."""
    text = io.StringIO()
    YAML(typ="safe", pure=True).dump(data, text)
    return text.getvalue()


@cache
def model_files():
    kept = [path.read_text() for path in sorted(models_folder().glob("*.yaml"))]
    small = sorted(kept, key=len)[:12]
    return [(text, plain(text)) for text in small]


def plain(text):
    """The content of a YAML file in Python's own types."""
    return YAML(typ="safe", pure=True).load(text)


def models(rng, _):
    """A shipped model with something in its content changed."""
    _, data = rng.choice(model_files())
    checked(rb.attack.loads(written(damaged_data(data, rng))), rng)


def texts(rng, _):
    """A shipped model with something in its text changed."""
    text, _ = rng.choice(model_files())
    checked(rb.attack.loads(damaged_text(text, rng)), rng)


def checked(attack, rng):
    target = rng.choice([*attack.nodes])
    states = attack.variable(target, {p.name: p.value for p in attack.parameters.values()}).states
    answer = rb.ask(attack, {target: str(states[0])})
    again = rb.attack.loads(rb.attack.dumps(attack))
    if again != attack:
        raise Wrong("written and read again it is another attack")
    same(rb.ask(again, {target: str(states[0])}).probability, answer.probability, "read again")
    _, query = read_query(attack, {target: str(states[0])})
    network = lower(attack, None, attack.example or None)
    worlds = np.prod([float(network.size(n)) for n in network.factors])
    if worlds <= MOST_WORLDS and np.ndim(answer.probability) == 0:
        brute = enumeration.joint(network, query.targets, query.given)
        same(brute.ravel()[0], float(answer.probability), f"P({target})")


# -- scenarios -------------------------------------------------------------------------------------


@cache
def scenario_files():
    folder = scenarios_folder()
    tables = [*folder.glob("*.csv")]
    files = sorted(folder.glob("*.yaml"))
    return [(p.read_text(), plain(p.read_text())) for p in files], tables


def scenarios(rng, folder):
    """A scenario or its table of facts with something changed, on people."""
    files, facts = scenario_files()
    text, data = rng.choice(files)
    place = folder / "scenario"
    place.mkdir(exist_ok=True)
    for table in facts:
        shutil.copy(table, place / table.name)
    deed = rng.random()
    if deed < 0.4:
        text = damaged_text(text, rng)
    elif deed < 0.7:
        text = written(damaged_data(data, rng))
    else:
        table = place / rng.choice(facts).name
        table.write_text(damaged_text(table.read_text(), rng), newline="")
    (place / "s.yaml").write_text(text, newline="")
    scenario = rb.load_scenario(place / "s.yaml")
    found = rb.assess("adversary-routes", few(), scenario=scenario, population=10_000)
    in_range(found.risk(), "risk")


def in_range(values, what):
    values = np.asarray(values, dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise Wrong(f"a {what} is outside 0 to 1")


@cache
def few():
    return rb.read_table(wrong_calls.frame(30), **wrong_calls.ROLES)


# -- tables ----------------------------------------------------------------------------------------

ODD = [None, "", " ", "NA", "nan", float("nan"), pd.NA, pd.NaT, "1e5", "-0", "+1", "１", "1,5", "é",
       "e\u0301", "a\0", "'=1+1", "=1+1", 10**25, -1, 2.5, True, b"x", (1, 2), "x" * 300,
       pd.Timestamp("2020-02-30".replace("30", "29")), "2020-13-01", "\u202ea", '"', "a\nb", ";",
       complex(1, 2), [1]]  # fmt: skip


def tables(rng, folder):
    """A frame or a file with odd cells and types; classes counted anew by another way."""
    n = rng.randint(1, 25)
    data = pd.DataFrame({
        "a": [rng.choice("xyz") for _ in range(n)], "b": [rng.randint(20, 24) for _ in range(n)],
        "c": [rng.choice([1.5, 2.0, 3.25]) for _ in range(n)],
    })  # fmt: skip
    if rng.random() < 0.45:
        people = rb.read_table(retyped(data, rng), quasi_identifiers=["a", "b", "c"])
        counted = data.groupby(["a", "b", "c"])["a"].transform("size").to_numpy()
        same(people.class_sizes(), counted, "class sizes of the same cells in other types")
        return
    for _ in range(rng.randint(1, 4)):
        name = rng.choice("abc")
        data[name] = data[name].astype(object)
        data.loc[rng.randrange(n), name] = [rng.choice(ODD)]
    given = data
    if rng.random() < 0.5:
        given = folder / rng.choice(["t.csv", "t.tsv", "t.csv.gz"])
        mark = "\t" if ".tsv" in given.name else rng.choice(",;")
        text = data.to_csv(index=False, sep=mark)
        if rng.random() < 0.6:
            text = damaged_text(text, rng)
        write_bytes(given, text.encode("utf-8", "surrogatepass"), rng)
    missing = rng.choice(["value", "drop", "matches-anything"])
    people = rb.read_table(given, quasi_identifiers=["a", "b", "c"], missing=missing)
    sizes = people.class_sizes()
    match = [people.matches(name) for name in ("a", "b", "c")]
    codes = people.table[:, :3]
    alike = np.ones((len(people), len(people)), dtype=bool)
    for j, matrix in enumerate(match):
        alike &= matrix[np.ix_(codes[:, j], codes[:, j])]
    same(sizes, alike.sum(axis=1), "class sizes pair by pair")


def write_bytes(path, content, rng):
    import gzip

    packed = gzip.compress(content) if path.suffix == ".gz" else content
    if path.suffix == ".gz" and rng.random() < 0.3:
        packed = packed[: rng.randrange(len(packed))]
    path.write_bytes(packed)


def retyped(data, rng):
    """The same cells in other types, which may not change who is alike."""
    kinds = {
        "a": ["object", "string", "category", "string[pyarrow]"],
        "b": ["int8", "uint16", "int64", "Int32", "float64", "object", "category", "string"],
        "c": ["float32", "float64", "Float64", "object", "category"],
    }
    data = data.astype({name: rng.choice(options) for name, options in kinds.items()})
    if rng.random() < 0.3:
        data.index = [f"r{rng.randint(0, 3)}" for _ in range(len(data))]
    if rng.random() < 0.3:
        data = data[rng.sample(list(data.columns), 3)]
    return data


# -- networks of other tools -----------------------------------------------------------------------


@cache
def network_files():
    found = []
    for name in ("breakfast", "netflix", "surname"):
        attack = rb.load(name)
        for kind in ("bif", "xmlbif", "xdsl"):
            try:
                text = rb.inference.interchange.export_text(
                    attack, kind, subject=attack.example or None
                )
            except rb.ReidbnError:
                continue
            found.append((kind, text))
    return sorted(found, key=lambda pair: len(pair[1]))[:6]


def networks(rng, folder):
    """A file of another tool with something changed; what is read is exported and read again."""
    kind, text = rng.choice(network_files())
    place = folder / f"n.{kind}"
    place.write_text(damaged_text(text, rng), newline="", encoding="utf-8", errors="replace")
    attack = rb.import_network(place, normalise=rng.random() < 0.3)
    name = rng.choice([*attack.nodes])
    target = {name: attack.nodes[name].states[0]}
    answer = rb.ask(attack, target).probability
    in_range(answer, "probability")
    other = folder / f"again.{rng.choice(['bif', 'xmlbif', 'xdsl'])}"
    again = rb.import_network(rb.export(attack, other))
    twin = [*again.nodes][[*attack.nodes].index(name)] if name not in again.nodes else name
    state = again.nodes[twin].states[0]
    same(rb.ask(again, {twin: state}).probability, answer, "exported and read again")


# -- arguments -------------------------------------------------------------------------------------


@cache
def calls(folder):
    slow = ("report.", "Assessment.to_", "Assessment.report", "Assessment.plot", "Leak.plot",
            "Leak.report", "Disclosure.report", "Disclosure.plot", "Assessment.uncertainty",
            "recommend", "assess", "what_if", "Assessment.check", "Assessment.keep_crosscheck",
            "Uniqueness.rehearse", "linkage_experiments", "whatif.protections",
            "Assessment.compare_with",
            "Assessment.population_uncertainty", "Uniqueness.plot", "Uniqueness.report",
            "Candidates.plot", "Candidates.report", "Suda.plot", "Suda.report", "Sobol.plot",
            "Tornado.plot", "population.", "datasets.fetch")  # fmt: skip
    return [(n, c) for n, c in wrong_calls.every(folder).items() if not n.startswith(slow)]


def arguments(rng, folder):
    """One or two wrong arguments of a public call."""
    _, (call, right) = rng.choice(calls(folder))
    names = [name for name in right if name != "progress"]
    if not names:
        raise Skipped
    wrong = {name: odd(rng) for name in rng.sample(names, min(len(names), rng.choice([1, 1, 2])))}
    call(**{**right, **wrong})


def odd(rng):
    value = rng.choice([*wrong_calls.WRONG.values()])
    deed = rng.random()
    if deed < 0.15:
        return [value, rng.choice([*wrong_calls.WRONG.values()])]
    if deed < 0.3:
        return {rng.choice(["age", "sex", "nonsense", 1, None]): value}
    return value


# -- checkpoints -----------------------------------------------------------------------------------


@cache
def finished(folder):
    """A checkpoint of an assessment that is asked block by block, and its risks."""
    place = folder / "finished"
    found = kept_assessment(place)
    return place, found


def kept_assessment(place):
    """The risks of an attack that is not a sum over subsets, kept in a folder."""
    attack = cached_attack()
    return rb.assess(attack, few(), population=10_000, checkpoint=place).risk().copy()


@cache
def cached_attack():
    return rb.load("prosecutor")


def checkpoints(rng, folder):
    """A finished block that is cut, changed, renamed, or replaced by something else."""
    place, right = finished(folder)
    work = folder / "resumed"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(place, work)
    blocks = sorted(work.glob("*.npy"))
    if not blocks:
        raise Skipped
    block = rng.choice(blocks)
    content = block.read_bytes()
    at = rng.randrange(len(content))
    deed = rng.randrange(6)
    if deed == 0:
        block.write_bytes(content[:at])
    elif deed == 1:
        flipped = content[at] ^ (1 << rng.randrange(8))
        block.write_bytes(content[:at] + bytes([flipped]) + content[at + 1 :])
    elif deed == 2:
        block.write_bytes(content + bytes([rng.randrange(256)]))
    elif deed == 3:
        block.write_bytes(b"")
    elif deed == 4:
        np.save(block, np.full(len(few()), 0.5))
    else:
        block.unlink()
        (block.parent / f"other{block.name}").write_bytes(content)
    same(kept_assessment(work), right, "a resumed run")
