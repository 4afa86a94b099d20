"use strict";
// Tables of the kinds that closed.py names, worked out in the page as the library does (cpds/).

// What the model does not allow at some values; the words are in words.json.
class Refused extends Error {
  constructor(key, said = {}) {
    super(key);
    this.key = key;
    this.said = said;
  }
}

const Kinds = (() => {
  const HAIR = 1e-12, NEAR = 1e-9, LAST_DIGITS = 1e-15;

  // -- formulas of derived numbers ----------------------------------------------------------------

  const anyOf = (p, n) => {
    if (p >= 0 && p < 1) return -Math.expm1(n * Math.log1p(-p));
    return p >= -HAIR && p <= 1 + HAIR ? 1 - Math.pow(1 - p, n) : NaN;
  };
  const OPERATIONS = {
    "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b,
    "^": Math.pow, neg: a => -a, exp: Math.exp, log: Math.log, any: anyOf,
    min: (...all) => Math.min(...all), max: (...all) => Math.max(...all),
  };
  const SIGNS = {
    "<=": (a, b) => a <= b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, ">": (a, b) => a > b,
  };

  function value(term, leaf) {
    if (typeof term === "number") return term;
    if (!Array.isArray(term)) return leaf(term);
    return OPERATIONS[term[0]](...term.slice(1).map(part => value(part, leaf)));
  }

  // A formula's value, and by how much the rounding of its parts may have moved it.
  function rounded(term, leaf, error) {
    if (typeof term === "number") return [term, LAST_DIGITS * Math.abs(term)];
    if (!Array.isArray(term)) return [leaf(term), error(term)];
    const [op, ...rest] = term, parts = rest.map(part => rounded(part, leaf, error));
    const found = OPERATIONS[op](...parts.map(part => part[0]));
    const far = Math.abs(found) === Infinity, off = far ? 0 : LAST_DIGITS * Math.abs(found), [[one, first], [other, second] = []] = parts;
    if (op === "+" || op === "-") return [found, off + first + second];
    if (op === "neg") return [found, off + first];
    if (op === "min" || op === "max") {
      const ends = [-1, 1].map(sign => OPERATIONS[op](...parts.map(([x, e]) => x + sign * e)));
      return [found, off + Math.max(...ends.map(end => Math.abs(end - found)))];
    }
    if (op === "exp") return [found, far ? 0 : off + Math.exp(one + first) - found];
    if (op === "log") return [found, first < one ? off + first / Math.abs(one) : Infinity];
    if (op === "*") return [found, off + Math.abs(one) * second + Math.abs(other) * first];
    if (op === "/") {
      const share = (first + Math.abs(found) * second) / Math.abs(other);
      return [found, second < Math.abs(other) ? off + share : Infinity];
    }
    const base = Math.abs(op === "any" ? 1 - one : one), power = Math.pow(base, other);
    const step = Math.abs(Math.pow(base + first, other) - power);
    if (power === Infinity && base > first) return [found, 0];
    return [found, off + step + (base > 0 ? power * Math.abs(Math.log(base)) * second : 0)];
  }

  // Whole where it is whole but for rounding: 0.07 * 100 is 7, and what can never be has the chance 0.
  function settled([found, off]) {
    const whole = Math.round(found), gap = Math.abs(found - whole);
    const taken = gap <= Math.min(off, NEAR * Math.max(Math.abs(whole), 1));
    return taken ? [whole + 0, LAST_DIGITS * Math.abs(whole)] : [found + 0, off];
  }

  // Whether a condition holds; sides that are alike but for rounding are the same, and one without
  // a value holds nothing.
  function holds({left, sign, right}, leaf, error) {
    const [gap, off] = rounded(sign.startsWith("<") ? ["-", right, left] : ["-", left, right], leaf, error);
    return Number.isFinite(off) && (sign.endsWith("=") ? gap >= -off : gap > off);
  }

  // A value within its range; what rounding may take over an end is taken back.
  function within(name, [found, off], [low, high]) {
    const least = low === 0 && high === 1 ? 1 : 0;
    const hair = end => Math.max(HAIR * Math.max(Math.abs(end), least), off);
    if (!Number.isFinite(found)) throw new Refused("no_value", {name});
    if ((low !== null && found < low - hair(low)) || (high !== null && found > high + hair(high))) {
      throw new Refused("outside", {
        name, found: shown(found), low: low === null ? "−∞" : shown(low),
        high: high === null ? "∞" : shown(high),
      });
    }
    if (low !== null && found < low) return low;
    return high !== null && found > high ? high : found;
  }

  const shown = x => String(+x.toPrecision(6));

  // -- variables ----------------------------------------------------------------------------------

  const isNumeral = text => text.trim() !== "" && Number.isFinite(Number(text));

  function numbersOf(states) {
    if (states.every(s => s === "yes" || s === "no")) return states.map(s => +(s === "yes"));
    if (states.every(isNumeral)) return states.map(Number);
    return states.map((_, i) => i);
  }

  // -- tables by a formula --------------------------------------------------------------------------

  // P(h leaked) for h = 0..longest: started at the mode, continued both ways, normalised.
  function leakedPmf(D, L, k, longest) {
    if (![D, L, k].every(Number.isInteger)) throw new Refused("not_whole");
    const low = Math.max(0, L + k - D), high = Math.min(k, L);
    const mode = Math.min(Math.max(Math.floor((k + 1) * (L + 1) / (D + 2)), low), high);
    const found = new Array(longest + 1).fill(0);
    found[mode] = 1;
    for (let h = mode; h < high; h++) {
      found[h + 1] = found[h] * ((k - h) * (L - h)) / ((h + 1) * (D - k - L + h + 1));
    }
    for (let h = mode - 1; h >= low; h--) {
      found[h] = found[h + 1] * ((h + 1) * (D - k - L + h + 1)) / ((k - h) * (L - h));
    }
    const total = found.reduce((a, b) => a + b, 0);
    return found.map(w => w / total);
  }

  function binomial(n, p, size) {
    const found = new Array(size).fill(0);
    let chosen = 1;
    for (let k = 0; k <= n; k++) {
      found[k] = chosen * Math.pow(p, k) * Math.pow(1 - p, n - k);
      chosen = n < 50 ? Math.round(chosen * (n - k) / (k + 1)) : chosen * (n - k) / (k + 1);
    }
    return found;
  }

  function allFail(p, times) {
    if (times === 0) return [1, 0];
    return [Math.pow(1 - p, times), times * Math.log1p(-p)];
  }

  function passes(parent, state, [sign, limit]) {
    if (sign === "=") return parent.states[state] === limit;
    if (sign === "!=") return parent.states[state] !== limit;
    return SIGNS[sign](parent.numbers[state], Number(limit));
  }

  const COMPARED = /^\s*(>=|<=|<|>)\s*(-?\d+(?:\.\d+)?)\s*$/;

  function meant(word, parent, state) {
    if (parent.states[state] === word) return true;
    const compared = COMPARED.exec(word);
    if (!compared || parent.states.includes(word) || !parent.isNumeric) return false;
    return SIGNS[compared[1]](Number(parent.states[state]), Number(compared[2]));
  }

  const yesNo = (child, yes, no) => child.states.map(s => (s === "yes" ? yes : no));
  const yesOf = (child, yes) => yesNo(child, yes, 1 - yes);
  const ifAll = (only, at, p) => (only.every(i => at.parents[i].numbers[at.state[i]] === 1) ? p : 0);

  // Each gives P(state) of a child at one configuration of its parents.
  const FORMULAS = {
    probability: (f, at) => yesOf(at.child, ifAll(f.only, at, at.of(f.p))),
    "one-over": (f, at) => {
      const size = at.of(f.of);
      if (!(size === 0 || size >= 1)) {
        throw new Refused("no_count", {name: at.child.name, found: shown(size)});
      }
      return yesOf(at.child, ifAll(f.only, at, size >= 1 ? 1 / Math.max(size, 1) : 0));
    },
    unique: (f, at) => {
      const size = at.of(f.of);
      if (!(size >= 0 && size === Math.round(size))) {
        throw new Refused("no_count", {name: at.child.name, found: shown(size)});
      }
      return yesOf(at.child, size === 1 ? at.of(f.stays) : 0);
    },
    share: (f, at) => {
      const part = at.of(f.part), whole = at.of(f.whole);
      if (f.free && !(part >= 0 && part <= whole)) {
        throw new Refused("part", {name: at.child.name});
      }
      return yesOf(at.child, Math.min(Math.max(whole > 0 ? part / whole : 0, 0), 1));
    },
    uniform: (f, at) => at.child.states.map(() => 1 / at.child.states.length),
    "hypergeometric-leak": (f, at) => {
      const D = at.of(f.records), L = at.of(f.leaked), k = at.of(f.size);
      const longest = at.child.states.length - 1;
      if (!(L >= 0 && L <= D && k >= 0 && k <= D)) {
        throw new Refused("too_many", {name: at.child.name});
      }
      if (Math.min(k, L) > longest) {
        throw new Refused("no_state", {name: at.child.name, state: shown(k)});
      }
      return leakedPmf(D, L, k, longest);
    },
    "noisy-or": (f, at) => noisy(f, at, (i, n) => n, (any, none) => yesNo(at.child, any, none)),
    "noisy-and": (f, at) =>
      noisy(f, at, (i, n) => at.parents[i].inputs - n, (any, none) => yesNo(at.child, none, any)),
    rows: (f, at) => {
      const row = fitting(f, at);
      const cells = Array.isArray(row.p) ? row.p : at.child.states.map(s => row.p[s] ?? 0);
      if (cells.length !== at.child.states.length) {
        throw new Refused("rows", {name: at.child.name});
      }
      const known = cells.map(cell => (cell === "rest" ? 0 : at.of(cell)));
      const sum = known.reduce((a, b) => a + b, 0), parts = cells.filter(cell => cell !== "rest").length;
      const dust = parts > 1 ? parts * Number.EPSILON : 0;
      const left = sum > 1 + HAIR ? 1 - sum : 1 - sum <= dust ? 0 : 1 - sum;
      return known.map((p, i) => (cells[i] === "rest" ? left : p));
    },
    payoffs: (f, at) => [at.of(fitting(f, at).p[0])],
    binomial: (f, at) => {
      const n = at.of(f.n);
      if (!(n >= 0 && Number.isInteger(n) && n < at.child.states.length)) {
        throw new Refused("no_state", {name: at.child.name, state: shown(n)});
      }
      return binomial(n, at.of(f.p), at.child.states.length);
    },
    event: (f, at) => {
      const fits = f.tests.map((tests, i) => {
        const held = tests.map(test => passes(at.parents[i], at.state[i], test));
        return f.how === "any" ? held.some(x => x) : held.every(x => x);
      });
      return yesOf(at.child, +(f.how === "any" ? fits.some(x => x) : fits.every(x => x)));
    },
    "share-of-range": (f, at) => {
      const n = at.parents[0].numbers[at.state[0]];
      if (n < f.low || n > f.high) throw new Refused("no_state", {name: at.parents[0].name, state: shown(n)});
      return yesOf(at.child, f.high > f.low ? (n - f.low) / (f.high - f.low) : 0);
    },
  };

  function noisy(f, at, counts, told) {
    let [none, log] = allFail(at.of(f.leak), 1);
    at.parents.forEach((parent, i) => {
      const [failing, more] = allFail(at.of(f.weights[i]), counts(i, parent.numbers[at.state[i]]));
      none *= failing;
      log += more;
    });
    return told(-Math.expm1(log), none);
  }

  function fitting(f, at) {
    const found = f.rows.find(row => row.when.every(
      (words, i) => words === null || words.some(w => meant(w, at.parents[i], at.state[i]))));
    if (!found) throw new Refused("rows", {name: at.child.name});
    return found;
  }

  // -- attempts, leaks and targets, and a structure -------------------------------------------------

  const counts = (at, ref, what) => {
    const n = at.of(ref);
    if (!(n >= 0 && Number.isInteger(n))) throw new Refused("no_count", {name: at.child.name, found: shown(n), what});
    return n;
  };
  const beyond = (at, n) => {
    if (n >= at.child.states.length) throw new Refused("no_state", {name: at.child.name, state: shown(n)});
    return n;
  };
  const isYesNo = child => child.states.length === 2 && child.states.every(s => s === "yes" || s === "no");
  const sum = terms => terms.reduce((a, b) => a + b, 0);

  function geometric(f, at) {
    const simple = isYesNo(at.child), last = at.child.states.length - 1;
    const budget = f.budget === null ? last : counts(at, f.budget, "budget");
    if (!simple) beyond(at, budget);
    const among = f.among === null ? null : counts(at, f.among, "candidates");
    const p = f.p === null ? null : at.of(f.p);
    let some, none;
    if (among !== null) {
      some = Math.min(budget, among) / Math.max(among, 1);
      none = 1 - some;
    } else {
      none = Math.pow(1 - p, budget);
      some = budget === 0 ? 0 : -Math.expm1(budget * Math.log1p(-p));
    }
    if (simple) return yesNo(at.child, some, none);
    const first = k => (among !== null ? (k <= among ? 1 / Math.max(among, 1) : 0) : p * Math.pow(1 - p, k - 1));
    return [none, ...Array.from({length: last}, (_, i) => (i + 1 <= budget ? first(i + 1) : 0))];
  }

  // The last state holds that many or more, with digits of its own.
  function poisson(f, at) {
    const m = at.of(f.mean), last = at.child.states.length - 1, found = [];
    if (!(m >= 0)) throw new Refused("no_value", {name: at.child.name});
    if (m === 0) return at.child.states.map((_, k) => +(k === 0));
    let log = -m;  // of m^k e^-m / k!
    for (let k = 0; k < last; k++) {
      found.push(Math.exp(log));
      log += Math.log(m / (k + 1));
    }
    const below = sum(found);
    if (last <= m) return [...found, 1 - below];
    let more = 0, term = Math.exp(log);
    for (let k = last; term > more * 1e-18; k++) {
      more += term;
      term *= m / (k + 1);
    }
    return [...found, more];
  }

  // Of the targets so far: which was the first of the class of each, and how large that class is.
  function places(at, nodes) {
    const first = [], size = [];
    nodes.forEach((node, i) => {
      const state = at.parents[node].states[at.state[node]];
      const j = state.startsWith("of_") ? i : first[Number(state.slice(8)) - 1];
      first.push(j);
      size.push(j === i ? Number(state.slice(3)) : size[j]);
    });
    return {first, size, opened: j => first[j] === j};
  }

  const recordsOf = (f, at) => sum(f.sizes.map((k, i) => k * at.of(f.counts[i])));

  function targetClass(f, at) {
    const before = f.earlier.length, records = recordsOf(f, at), {first, size, opened} = places(at, f.earlier);
    if (!(records > before)) throw new Refused("too_many", {name: at.child.name});
    const weight = at.child.states.map(state => {
      if (state.startsWith("of_")) {
        const k = Number(state.slice(3)), met = first.filter((_, j) => opened(j) && size[j] === k).length;
        return Math.max(0, k * (at.of(f.counts[f.sizes.indexOf(k)]) - met));
      }
      const j = Number(state.slice(8)) - 1;
      return opened(j) ? Math.max(0, size[j] - first.filter(t => t === j).length) : 0;
    });
    const whole = sum(weight);
    return weight.map(w => (whole > 0 ? w / whole : 1 / weight.length));
  }

  function targetClassLeaked(f, at) {
    const {first, size, opened} = places(at, f.classes), before = f.earlier.length;
    const numbers = f.earlier.map(i => at.parents[i].numbers[at.state[i]]);
    const records = recordsOf(f, at), leaked = at.of(f.leaked), longest = at.child.states.length - 1;
    if (!(leaked >= 0 && leaked <= records)) throw new Refused("too_many", {name: at.child.name});
    const mine = first.at(-1);
    if (before && mine !== before) return at.child.states.map((_, k) => +(k === numbers[mine]));
    const met = sum(numbers.map((_, j) => (opened(j) ? size[j] : 0)));
    const out = sum(numbers.map((n, j) => (opened(j) ? n : 0)));
    const rest = Math.max(records - met, 1), left = Math.min(Math.max(leaked - out, 0), rest);
    return leakedPmf(rest, left, Math.min(size.at(-1), rest), longest);
  }

  function restOfLeak(f, at) {
    const rest = at.of(f.records) - sum(f.others.map(at.of)), size = at.of(f.size);
    const longest = at.child.states.length - 1;
    if (!(size >= 0 && size <= rest && size <= longest)) throw new Refused("too_many", {name: at.child.name});
    const out = sum(f.leaks.map(i => at.parents[i].numbers[at.state[i]]));
    return leakedPmf(rest, Math.min(Math.max(at.of(f.leaked) - out, 0), rest), size, longest);
  }

  // Shares by name with the rest worked out, kept for the table where no parent decides on them.
  function completed(cells, at) {
    const kept = at.kept.get(cells);
    if (kept) return kept;
    const told = cells.map(([, cell]) => (cell === "rest" ? null : at.of(cell)));
    const known = told.filter(x => x !== null), total = sum(known);
    if (known.some(x => !(x >= 0)) || total > 1 + 1e-9 ||
        (known.length === told.length && Math.abs(total - 1) > 1e-9)) {
      throw new Refused("no_chance", {name: at.child.name});
    }
    const found = new Map(cells.map(([name], i) => [name, told[i] ?? Math.max(1 - total, 0)]));
    at.kept.set(cells, found);
    return found;
  }

  // Of one other person: the chance to be like the target on what is known.
  function alike(f, at) {
    let chances = [...completed(f.classes, at).values()];
    for (const own of f.shares) {
      if (own.group !== null && !((at.state[own.group] >> own.bit) & 1)) continue;
      const state = at.parents[own.at].states[at.state[own.at]];
      chances = chances.map((w, h) => w * (completed(own.by[h], at).get(state) ?? 0));
    }
    const times = at.of(f.times), power = at.of(f.power);
    if (!(times >= 0 && power >= 0)) throw new Refused("no_value", {name: at.child.name});
    return Math.min(times * Math.pow(sum(chances), power), 1);
  }

  function structured(f, at, told) {
    const size = at.of(f.size), n = at.of(f.records), N = at.of(f.population);
    if (!(n >= 1 && n <= N && size <= n)) throw new Refused("too_many", {name: at.child.name});
    const p = alike(f, at), key = `${size} ${N - n} ${p}`;
    if (!at.kept.has(key)) at.kept.set(key, told(size, N - n, p));
    return yesOf(at.child, at.kept.get(key));
  }

  const stays = (size, others, p) => (size !== 1 ? 0 : others === 0 ? 1 : Math.exp(others * Math.log1p(-p)));

  // E[1/(f + X)], X of the others alike: for f = 1 in closed form, else theory/alike.py's integral.
  function meanInverse(f, others, p) {
    if (f < 1) return 0;
    if (p === 0) return 1 / f;
    if (f === 1) return -Math.expm1((others + 1) * Math.log1p(-p)) / ((others + 1) * p);
    const halvings = Math.ceil(Math.log2(Math.max(1, f + others * p))) + 1;
    const log = (n, x) => (n === 0 ? 0 : n * Math.log1p(-x));
    let total = 0, high = 1;
    for (let i = 1; i <= halvings; i++) {
      const low = i === halvings ? 0 : high / 2;
      for (const [at, weight] of GAUSS) {
        const u = low + (high - low) * (1 + at) / 2;
        total += weight * (high - low) / 2 * Math.exp(log(f - 1, u) + log(others, p * u));
      }
      high = low;
    }
    return total;
  }

  // Points and weights of Gauss and Legendre, by Newton's method on the polynomial of degree 24.
  const GAUSS = Array.from({length: 24}, (_, i) => {
    let x = Math.cos(Math.PI * (i + 0.75) / 24.5), slope = 1;
    for (let turn = 0; turn < 8; turn++) {
      let here = 1, before = 0;
      for (let k = 1; k <= 24; k++) [here, before] = [((2 * k - 1) * x * here - (k - 1) * before) / k, here];
      slope = 24 * (x * here - before) / (x * x - 1);
      x -= here / slope;
    }
    return [x, 2 / ((1 - x * x) * slope * slope)];
  });

  Object.assign(FORMULAS, {
    geometric, poisson, "rest-of-leak": restOfLeak, "target-class": targetClass,
    "target-class-leaked": targetClassLeaked,
    "at-most": (f, at) => {
      const n = beyond(at, Math.min(counts(at, f.of, "number"), counts(at, f.most, "number")));
      return at.child.states.map((_, k) => +(k === n));
    },
    "structured-uniqueness": (f, at) => structured(f, at, stays),
    "structured-match": (f, at) => structured(f, at, meanInverse),
  });

  return {FORMULAS, LAST_DIGITS, value, rounded, settled, holds, within, shown, isNumeral, numbersOf};
})();

