// The attack of a page, answered in the page: exact sums over a small network; kinds.js before it.
// payload.py writes what `Engine` reads; tests/test_page_engine.py holds both to the library.

const Engine = (() => {
  const HAIR = 1e-12, MASS = 1e-11, KEPT = 12, PLANS = 64, OFF = Symbol("off");
  const MOST = 1.6e7;  // products of one pass: evidence in many places can need more than a page has

  const {FORMULAS, LAST_DIGITS, value, rounded, settled, holds, within, isNumeral, numbersOf} = Kinds;

  // -- tables between points, and at stops ------------------------------------------------------------

  function weights(x, points) {
    return points.map((own, i) => points.reduce(
      (w, other, j) => (i === j ? w : w * ((x - other) / (own - other))), 1));
  }

  function polynomial(form, env) {
    let held = form.held;
    for (let i = 0; i < form.of.length; i++) {
      const w = weights(env[form.of[i]], form.at[i]), size = held.length / w.length;
      const next = new Array(size).fill(0);
      for (let k = 0; k < w.length; k++) {
        for (let j = 0; j < size; j++) next[j] += w[k] * held[k * size + j];
      }
      held = next;
    }
    return held;
  }

  function atStops(form, env) {
    let place = 0, count = 1;
    form.of.forEach((name, i) => {
      const stops = form.at[i];
      const found = stops.findIndex(x => Math.abs(x - env[name]) <= 1e-12 * Math.max(1, Math.abs(x)));
      if (found < 0) throw new Refused("between", {name});
      place = place * stops.length + found;
      count *= stops.length;
    });
    const size = form.held.length / count;
    const held = form.held.slice(place * size, (place + 1) * size);
    if (held.includes(null)) throw new Refused("no_setting");
    return held;
  }

  function names(thing, found = new Set()) {
    if (Array.isArray(thing)) thing.forEach(part => names(part, found));
    else if (thing && typeof thing === "object") {
      if (typeof thing.p === "string" && thing.p !== "rest") found.add(thing.p);
      Object.values(thing).forEach(part => names(part, found));
    }
    return found;
  }

  // -- sums -----------------------------------------------------------------------------------------

  // The order in which variables are summed out, and where each product takes its numbers from.
  function planned(scopes, sizes, keep) {
    const left = scopes.map((vars, slot) => ({vars, slot}));
    const todo = new Set(scopes.flat().filter(v => !keep.has(v)));
    const steps = [];
    let next = scopes.length, all = 0;
    const cost = new Map(), weigh = name => {
      const met = new Set();
      for (const f of left) if (f.vars.includes(name)) for (const v of f.vars) met.add(v);
      let found = 1;
      for (const v of met) found *= sizes[v];
      cost.set(name, found);
    };
    const names = [...todo].sort();
    names.forEach(weigh);
    while (todo.size) {
      let best = null, cheapest = Infinity;
      for (const name of names) if (todo.has(name) && cost.get(name) < cheapest) [best, cheapest] = [name, cost.get(name)];
      const taken = left.filter(f => f.vars.includes(best));
      const scope = [...new Set(taken.flatMap(f => f.vars))].filter(v => v !== best);
      all += cheapest;
      if (all > MOST) throw new Refused("too_much");
      steps.push({x: best, size: sizes[best], out: next, ...product(taken, [...scope, best], sizes)});
      for (const f of taken) left.splice(left.indexOf(f), 1);
      left.push({vars: scope, slot: next++});
      todo.delete(best);
      scope.filter(v => todo.has(v)).forEach(weigh);
    }
    return {steps, left, slots: next};
  }

  // For every cell of a scope (the last variable fastest) the cell of each factor.
  function product(factors, scope, sizes) {
    const cells = scope.reduce((n, v) => n * sizes[v], 1);
    const index = factors.map(() => new Int32Array(cells));
    const strides = factors.map(f => {
      const own = {};
      let stride = 1;
      for (let i = f.vars.length - 1; i >= 0; i--) {
        own[f.vars[i]] = stride;
        stride *= sizes[f.vars[i]];
      }
      return scope.map(v => own[v] ?? 0);
    });
    const at = new Array(scope.length).fill(0), place = factors.map(() => 0);
    for (let n = 0; n < cells; n++) {
      for (let f = 0; f < index.length; f++) index[f][n] = place[f];
      for (let d = scope.length - 1; d >= 0; d--) {
        if (++at[d] < sizes[scope[d]]) {
          for (let f = 0; f < index.length; f++) place[f] += strides[f][d];
          break;
        }
        for (let f = 0; f < index.length; f++) place[f] -= strides[f][d] * (at[d] - 1);
        at[d] = 0;
      }
    }
    return {ins: factors.map(f => f.slot), index, cells};
  }

  function forward(plan, tables, weight) {
    const slots = new Array(plan.slots);
    tables.forEach((t, i) => { slots[i] = t; });
    for (const s of plan.steps) {
      const out = new Float64Array(s.cells / s.size), w = weight[s.x];
      const held = s.ins.map(i => slots[i]);
      for (let o = 0, n = 0; o < out.length; o++) {
        let sum = 0;
        for (let k = 0; k < s.size; k++, n++) {
          let p = w ? w[k] : 1;
          for (let f = 0; f < held.length; f++) p *= held[f][s.index[f][n]];
          sum += p;
        }
        out[o] = sum;
      }
      slots[s.out] = out;
    }
    return slots;
  }

  // P(every state of every variable, what is weighted): the sum differentiated by its weights.
  function backward(plan, slots, weight) {
    const slope = slots.map(s => new Float64Array(s.length)), found = {};
    const ends = plan.left.map(f => f.slot);
    ends.forEach(slot => {
      slope[slot][0] = ends.reduce((p, other) => (other === slot ? p : p * slots[other][0]), 1);
    });
    for (const s of [...plan.steps].reverse()) {
      const w = weight[s.x], own = new Float64Array(s.size), held = s.ins.map(i => slots[i]);
      const gains = s.ins.map(i => slope[i]), many = held.length;
      for (let o = 0, n = 0; o < s.cells / s.size; o++) {
        const g = slope[s.out][o];
        for (let k = 0; k < s.size; k++, n++) {
          if (g === 0) continue;
          const mine = w ? w[k] : 1;
          let whole = g;
          for (let f = 0; f < many; f++) whole *= held[f][s.index[f][n]];
          own[k] += whole * mine;
          for (let f = 0; f < many; f++) {
            let others = g * mine;
            for (let e = 0; e < many; e++) if (e !== f) others *= held[e][s.index[e][n]];
            gains[f][s.index[f][n]] += others;
          }
        }
      }
      found[s.x] = own;
    }
    return {found, slope};
  }

  // The product of all factors over some variables, in their order.
  function jointly(scopes, tables, sizes, keep) {
    const plan = planned(scopes, sizes, new Set(keep));
    const slots = forward(plan, tables, {});
    const {index, ins, cells} = product(plan.left, keep, sizes);
    const out = new Float64Array(cells);
    for (let n = 0; n < cells; n++) {
      let p = 1;
      for (let f = 0; f < ins.length; f++) p *= slots[ins[f]][index[f][n]];
      out[n] = p;
    }
    return out;
  }

  // -- people behind it: the joint law of what the rest sees of them ------------------------------------

  class People {
    constructor(payload, model) {
      this.faces = payload.people.faces;
      this.cells = payload.people.cells;
      this.edges = payload.people.edges;
      const env = model.env(model.start());
      this.sizes = Object.fromEntries(this.faces.map(n => [n, model.states(n, env).length]));
      const all = this.cells.reduce((n, c) => n + (c.low + c.high) / 2, 0);
      this.mean = this.cells[0].law.map((_, i) =>
        this.cells.reduce((sum, c) => sum + c.law[i] * (c.low + c.high) / 2, 0) / all);
    }

    factor(law) {
      return {vars: this.faces, faces: this.faces, table: Float64Array.from(law), child: {name: "~people"}, sizes: this.sizes};
    }

    // The largest (sign 1) or least (-1) sum of gains over all laws in a cell; what the attack rules
    // out has no chance in any.
    most(cell, gain, order, sign) {
      let total = 0, room = 1;
      cell.at.forEach((at, i) => {
        if (!this.mean[i]) return;
        const low = Math.max(0, this.edges[at] - 1e-9);
        total += low * gain[i];
        room -= low;
      });
      for (let k = 0; k < order.length && room > 0; k++) {
        const i = order[sign > 0 ? k : order.length - 1 - k], at = cell.at[i];
        if (!this.mean[i]) continue;
        const more = Math.min(room, this.edges[at + 1] + 1e-9 - Math.max(0, this.edges[at] - 1e-9));
        total += more * gain[i];
        room -= more;
      }
      return total;
    }

    // For every joint state of the faces, the place of it where some faces are set from outside.
    left(done) {
      const free = this.faces.filter(n => !done.includes(n));
      return this.mean.map((_, i) => {
        let rest = i, place = 0, stride = 1;
        for (const n of [...this.faces].reverse()) {
          const state = rest % this.sizes[n];
          rest = Math.floor(rest / this.sizes[n]);
          if (free.includes(n)) {
            place += state * stride;
            stride *= this.sizes[n];
          }
        }
        return place;
      });
    }

    // The law of the other faces, where some are set from outside.
    without(f, done) {
      for (const name of done) {
        const at = f.vars.indexOf(name), vars = f.vars.filter(n => n !== name);
        const after = f.vars.slice(at + 1).reduce((n, v) => n * this.sizes[v], 1), size = this.sizes[name];
        const table = new Float64Array(f.table.length / size);
        f.table.forEach((p, i) => { table[Math.floor(i / (after * size)) * after + i % after] += p; });
        f = {...f, vars, faces: vars, table};
      }
      return f;
    }
  }

  // -- a model ----------------------------------------------------------------------------------------

  class Model {
    constructor(payload) {
      this.payload = payload;
      this.nodes = new Map(payload.nodes.map(n => [n.name, n]));
      this.uses = new Map(payload.tables.map(t => [t, this.usedBy(t)]));
      this.tables = new Map();
      this.plans = new Map();
      this.people = payload.people ? new People(payload, this) : null;
    }

    start() {
      return Object.fromEntries(this.payload.parameters.map(p => [p.name, p.value]));
    }

    // Parameters and numbers; Refused where a condition or a range does not hold.
    env(values) {
      const raw = {...values}, leaf = thing => raw[thing.p], errors = Object.create(null), env = {...values};
      const error = thing => errors[thing.p] ?? LAST_DIGITS * Math.abs(raw[thing.p]);
      for (const number of this.payload.numbers) {
        const found = settled(rounded(number.t, leaf, error));
        [raw[number.name], errors[number.name]] = found;
        env[number.name] = within(number.name, found, number.in);
      }
      env[OFF] = errors;
      for (const c of this.payload.where) {
        if (!holds(c, leaf, error)) throw new Refused("condition", {text: c.text});
      }
      return env;
    }

    states(name, env) {
      const own = this.nodes.get(name).states;
      if (Array.isArray(own)) return own;
      const [first, last] = own.span.map(end => (typeof end === "number" ? end : Math.trunc(env[end.p])));
      return Array.from({length: last - first + 1}, (_, i) => String(first + i));
    }

    variable(name, env, states) {
      const members = this.payload.groups[name];
      if (members && !this.nodes.has(name)) {
        const size = 2 ** members.length;
        const counted = Array.from({length: size}, (_, mask) => mask.toString(2).replace(/0/g, "").length);
        return {name, size, numbers: counted, states: counted.map(String), inputs: members.length,
                isNumeric: false, isGroup: true, spelled: [...members].reverse()};
      }
      states ??= this.states(name, env);
      return {name, states, size: states.length, numbers: numbersOf(states), inputs: 1,
              isNumeric: states.every(isNumeral), spelled: [name]};
    }

    usedBy(entry) {
      const found = names(entry.form);
      (entry.form.of instanceof Array ? entry.form.of : []).forEach(n => found.add(n));
      for (const name of [entry.child, ...entry.parents]) {
        const own = this.nodes.get(name);
        if (own && !Array.isArray(own.states)) names(own.states).forEach(n => found.add(n));
      }
      return [...found];
    }

    // A factor: its variables and its numbers, kept while what it uses stays.
    factor(entry, env) {
      const key = this.uses.get(entry).map(n => env[n]).join();
      const kept = this.tables.get(entry) ?? new Map();
      if (kept.has(key)) return kept.get(key);
      const hidden = new Map(this.payload.tables.filter(t => t.states).map(t => [t.child, t.states]));
      const child = this.variable(entry.child, env, entry.states);
      const parents = entry.parents.map(n => this.variable(n, env, hidden.get(n)));
      const table = this.table(entry.form, child, parents, env);
      this.check(child, table);
      const made = {vars: [...parents.flatMap(p => p.spelled), child.name], table, child,
                    sizes: Object.fromEntries([...parents, child].flatMap(
                      v => v.spelled.map(n => [n, v.isGroup ? 2 : v.size])))};
      kept.set(key, made);
      if (kept.size > KEPT) kept.delete(kept.keys().next().value);
      this.tables.set(entry, kept);
      return made;
    }

    table(form, child, parents, env) {
      if (form.kind === "still") return Float64Array.from(form.held);
      if (form.kind === "sure") {
        const found = new Float64Array(form.held.length * child.size);
        form.held.forEach((state, i) => { found[i * child.size + state] = 1; });
        return found;
      }
      if (form.kind === "polynomial") return Float64Array.from(polynomial(form, env));
      if (form.kind === "stops") return Float64Array.from(atStops(form, env));
      const cells = parents.reduce((n, p) => n * p.size, 1);
      const found = new Float64Array(cells * child.size), state = parents.map(() => 0);
      const both = cell => {
        if (cell.t === undefined) {
          const own = leaf(cell);
          return [own, env[OFF]?.[cell.p] ?? LAST_DIGITS * Math.abs(own)];
        }
        const found = settled(rounded(cell.t, leaf, thing => both(thing)[1]));
        return [within(child.name, found, cell.in), found[1]];
      };
      const leaf = cell => {
        if (typeof cell === "number") return cell;
        if (cell.p !== undefined) return env[cell.p];
        if (cell.n !== undefined) return parents[cell.n].numbers[state[cell.n]];
        if (cell.c) return cell.c[cell.x.reduce((at, i, j) => at * cell.s[j] + state[i], 0)];
        return both(cell)[0];
      };
      const at = {child, parents, state, of: leaf, kept: new Map()};
      for (let n = 0; n < cells; n++) {
        found.set(FORMULAS[form.kind](form, at), n * child.size);
        for (let d = parents.length - 1; d >= 0; d--) {
          if (++state[d] < parents[d].size) break;
          state[d] = 0;
        }
      }
      return found;
    }

    check(child, table) {
      for (let n = 0; n < table.length; n += child.size) {
        let sum = 0;
        for (let k = 0; k < child.size; k++) {
          if (!(table[n + k] >= -HAIR)) throw new Refused("no_chance", {name: child.name});
          if (table[n + k] < 0) table[n + k] = 0;
          sum += table[n + k];
        }
        if (!(Math.abs(sum - 1) <= MASS)) {
          throw new Refused("no_chance", {name: child.name});
        }
      }
    }

    factors(env) {
      const found = this.payload.tables.map(entry => this.factor(entry, env));
      return this.people ? [...found, this.people.factor(this.people.mean)] : found;
    }

    one(name, env, state) {
      const states = this.states(name, env), at = states.indexOf(state);
      if (at < 0) throw new Refused("no_state", {name, state});
      return {vars: [name], table: Float64Array.from(states, (_, i) => +(i === at)),
              child: {name}, sizes: {[name]: states.length}};
    }

    // The factors with what the attacker decides, as he would before anything is done.  Of options
    // that are worth the same he takes the eager one, or that which a question leans to.
    decided(env, lean = null) {
      let factors = this.factors(env);
      const policies = {}, names_ = this.payload.decisions.map(d => d.name);
      const even = d => {
        const family = this.family(d, env), options = family.at(-1).size;
        const cells = family.reduce((n, v) => n * v.size, 1);
        return {vars: family.map(v => v.name), table: new Float64Array(cells).fill(1 / options),
                child: {name: d}, sizes: Object.fromEntries(family.map(v => [v.name, v.size]))};
      };
      factors = [...factors, ...names_.map(even)];
      const order = lean ? lean.order.map(n => this.payload.decisions.find(d => d.name === n)) : this.payload.decisions;
      for (const d of order) {
        const found = this.choice(d, factors, env, lean);
        policies[d.name] = found;
        factors = factors.map(f => (f.child.name === d.name ? {...f, table: found.policy} : f));
      }
      return {factors, policies};
    }

    family(d, env) {
      const own = this.payload.decisions.find(x => x.name === d);
      const spelled = own.sees.flatMap(n => this.variable(n, env).spelled);
      return [...spelled, d].map(n => this.variable(n, env));
    }

    above(wanted, factors) {
      const by = new Map(factors.flatMap(f => (f.faces ?? [f.child.name]).map(n => [n, f.vars])));
      const found = new Set(), todo = [...wanted];
      while (todo.length) {
        const name = todo.pop();
        if (!found.has(name)) {
          found.add(name);
          todo.push(...(by.get(name) ?? []));
        }
      }
      return found;
    }

    choice(d, factors, env, lean) {
      const family = this.family(d.name, env), names_ = family.map(v => v.name);
      const seen = new Set(names_.slice(0, -1)), options = family.at(-1);
      const sizes = Object.assign({}, ...factors.map(f => f.sizes));
      const trial = factors.map(f => {
        if (f.child.name === d.name) return {...f, table: f.table.map(() => 1 / options.size)};
        const name = f.child.name, rest = f.vars.slice(0, -1);
        if (!seen.has(name) || !rest.every(v => seen.has(v))) return f;
        return {...f, vars: [name], table: new Float64Array(sizes[name]).fill(1 / sizes[name])};
      });
      const cells = family.reduce((n, v) => n * v.size, 1);
      const worth = new Float64Array(cells);
      let chance = null, most = 0;
      for (const u of this.payload.utilities) {
        if (!this.above(u.of, trial).has(d.name)) continue;
        const of = u.of.map(n => this.variable(n, env));
        const paid = this.table(u.form, {name: u.name, states: ["value"], size: 1}, of, env);
        const keep = [...names_, ...u.of.filter(n => !names_.includes(n))];
        const p = this.jointly(trial, sizes, keep);
        const {index, cells: all} = product([{vars: u.of, slot: 0}], keep, sizes);
        const rest = all / cells;
        const sums = new Float64Array(cells);
        for (let n = 0; n < all; n++) {
          worth[Math.floor(n / rest)] += p[n] * paid[index[0][n]];
          sums[Math.floor(n / rest)] += p[n];
        }
        chance ??= sums;
        most += Math.max(...paid.map(Math.abs));
      }
      chance ??= this.jointly(trial, sizes, names_);
      const policy = new Float64Array(cells), k = options.size;
      const eager = options.states.map((_, i) => i).reverse()
        .sort((a, b) => (options.states[a] !== "yes") - (options.states[b] !== "yes"));
      const heat = this.heat(d, env), leaning = lean && !(d.name in lean.done) ? this.leaning(trial, names_, env, lean) : null;
      let tied = false;
      for (let s = 0; s < cells; s += k) {
        const own = Array.from({length: k}, (_, i) => worth[s + i] / (chance[s + i] > 0 ? chance[s + i] : 1));
        own.forEach((w, i) => { worth[s + i] = w; });
        const best = Math.max(...own), warm = heat[s / k];
        const known = own.reduce((sum, _, i) => sum + chance[s + i], 0);
        if (warm > 0 && known > 0) {
          const soft = own.map(w => Math.exp((w - best) / warm)), sum = soft.reduce((a, b) => a + b, 0);
          soft.forEach((w, i) => { policy[s + i] = w / sum; });
        } else {
          const good = eager.filter(i => own[i] >= best - HAIR * most);
          const top = leaning ? Math.max(...good.map(i => leaning[s + i])) : 0;
          policy[s + (leaning ? good.find(i => leaning[s + i] >= top) : good[0])] = 1;
          tied ||= known > 0 && good.length > 1;
        }
      }
      return {policy, worth, tied, options: options.states, family: names_};
    }

    // P(target, evidence) - x P(evidence) case by case of what is seen and taken (inference/ties.py).
    leaning(trial, seen, env, {wanted, given, done, x}) {
      const factors = trial.map(f => (f.child.name in done ? this.one(f.child.name, env, done[f.child.name]) : f));
      const sizes = Object.assign({}, ...factors.map(f => f.sizes));
      const nodes = [...new Set([...Object.keys(wanted), ...Object.keys(given)])];
      const keep = [...seen, ...nodes.filter(n => !seen.includes(n))], p = this.jointly(factors, sizes, keep);
      const {index, cells} = product(nodes.map(n => ({vars: [n], slot: 0})), keep, sizes);
      const rest = cells / seen.reduce((n, v) => n * sizes[v], 1), sums = new Float64Array(cells / rest);
      const states = nodes.map(n => this.states(n, env));
      for (let n = 0; n < cells; n++) {
        const is = said => nodes.every((v, i) => !(v in said) || states[i][index[i][n]] === said[v]);
        if (is(given)) sums[Math.floor(n / rest)] += p[n] * (+is(wanted) - x);
      }
      return sums;
    }

    // The highest answer of the policies that are worth the same; null where that is not worked out.
    worst(values, question, see = {}, done = {}) {
      const given = this.given(question, see);
      const own = Object.keys(given).every(n => n in question.given && given[n] === question.given[n]);
      if (this.people || !own || !question.order?.length) return null;
      let most = this.ask(values, question, see, done);
      if (Number.isNaN(most.p)) return null;
      for (let round = 0; round < 100; round++) {
        const x = Object.keys(given).length ? most.p : 0;
        const found = this.ask(values, question, see, done, {wanted: question.wanted, given, done, x, order: question.order});
        if (!(found.p > most.p * (1 + HAIR))) return most;
        most = found;
        if (!x && !Object.keys(given).length) return most;
      }
      return null;
    }

    // P(what is seen before a decision) under all policies and what is done: case by case.
    happens(d, factors, env) {
      const family = this.family(d, env), k = family.at(-1).size;
      const sizes = Object.assign({}, ...factors.map(f => f.sizes));
      const even = {vars: [d], table: new Float64Array(k).fill(1 / k), child: {name: d}, sizes: {[d]: k}};
      const p = this.jointly([...factors.filter(f => f.child.name !== d), even], sizes, family.map(v => v.name));
      return Float64Array.from({length: p.length / k}, (_, s) => p.slice(s * k, (s + 1) * k).reduce((a, b) => a + b, 0));
    }

    heat(d, env) {
      const parents = d.sees.map(n => this.variable(n, env));
      const child = {name: d.name, states: ["value"], size: 1};
      const found = this.table({kind: "payoffs", rows: [{when: parents.map(() => null), p: [d.heat]}]},
                               child, parents, env);
      if (found.some(x => !(x >= 0))) throw new Refused("no_value", {name: d.name});
      return found;
    }

    jointly(factors, sizes, keep) {
      const need = this.above(keep, factors), own = factors.filter(f => need.has(f.child.name));
      return jointly(own.map(f => f.vars), own.map(f => f.table), sizes, keep);
    }

    // P(every state of every node, evidence) and P(evidence), of the nodes that matter.
    sums(values, see, done, wanted, lean = null) {
      const env = this.env(values);
      const {factors: free, policies} = this.decided(env, lean);
      let factors = free.map(f => (f.child.name in done ? this.one(f.child.name, env, done[f.child.name]) : f));
      if (this.people) {
        const mine = this.people.faces.filter(n => n in done);
        factors = factors.map(f => (f.faces ? this.people.without(f, mine) : f));
        factors.push(...mine.map(n => this.one(n, env, done[n])));
      }
      const whole = factors;
      if (wanted) {
        const need = this.above([...wanted, ...Object.keys(see)], factors);
        factors = factors.filter(f => (f.faces ?? [f.child.name]).some(n => need.has(n)));
      }
      const weight = {};
      for (const [name, state] of Object.entries(see)) weight[name] = this.one(name, env, state).table;
      const scopes = factors.map(f => f.vars), sizes = Object.assign({}, ...factors.map(f => f.sizes));
      const key = JSON.stringify([scopes, sizes]);
      let plan = this.plans.get(key);
      if (!plan) {
        try {
          plan = planned(scopes, sizes, new Set());
        } catch (problem) {
          if (!(problem instanceof Refused)) throw problem;
          plan = problem;
        }
        this.plans.set(key, plan);
        if (this.plans.size > PLANS) this.plans.delete(this.plans.keys().next().value);
      }
      if (plan instanceof Refused) throw plan;
      const tables = factors.map(f => f.table), place = factors.findIndex(f => f.faces);
      const total = w => {
        const slots = forward(plan, tables, w);
        return [plan.left.reduce((p, f) => p * slots[f.slot][0], 1), slots];
      };
      return {env, policies, plan, weight, total, place, factors, whole};
    }

    // Everything that the page shows at a setting; of a large network one last node after another.
    all(values, see, done) {
      const marginals = {};
      let last = null;
      const add = wanted => {
        last = this.sums(values, see, done, wanted);
        const [evidence, slots] = last.total(last.weight);
        const slopes = backward(last.plan, slots, last.weight).found;
        for (const name of this.nodes.keys()) {
          if (!slopes[name] || marginals[name]) continue;
          const w = last.weight[name];
          const joint = Array.from(slopes[name], (p, i) => (w ? p * w[i] : p));
          marginals[name] = joint.map(p => (evidence > 0 ? p / evidence : NaN));
        }
        return evidence;
      };
      const cover = this.payload.cover;
      let evidence = cover ? NaN : add(null);
      for (const name of cover ? [...cover, ...[...this.nodes.keys()].reverse()] : []) {
        if (!marginals[name]) evidence = add([name]);
      }
      const states = Object.fromEntries([...this.nodes.keys()].map(n => [n, this.states(n, last.env)]));
      const happens = Object.fromEntries(Object.keys(last.policies).map(d => [d, this.happens(d, last.whole, last.env)]));
      return {evidence, marginals, states, happens, policies: last.policies, env: last.env};
    }

    // The evidence of a question with what is seen beside it: of one node the latter counts.
    given(question, see) {
      const own = Object.entries(question.given).filter(([n]) => !(question.by[n] in see));
      return {...Object.fromEntries(own), ...see};
    }

    // The answer to one question: {p, evidence, value}; p is NaN where the evidence is impossible.
    ask(values, question, see = {}, done = {}, lean = null) {
      const given = this.given(question, see), wanted = question.wanted;
      const found = this.sums(values, given, done, Object.keys(wanted), lean);
      const evidence = found.total(found.weight)[0], both = {...found.weight};
      for (const [name, state] of Object.entries(wanted)) {
        const own = this.one(name, found.env, state).table;
        both[name] = both[name] ? both[name].map((w, i) => w * own[i]) : own;
      }
      const [joint, slots] = found.total(both);
      const none = Object.keys(given).length === 0;
      if (!none && !(evidence > 0)) return {p: NaN, evidence: 0, value: NaN, policies: found.policies};
      const p = none ? joint : joint / evidence, scale = question.scale;
      return {p, evidence: none ? 1 : evidence, policies: found.policies,
              value: scale ? scale.low + (scale.high - scale.low) * p : p};
    }

    // P(target, evidence | faces) and P(evidence | faces), for every joint state of the faces.
    byFaces(values, question, see = {}, done = {}) {
      const given = this.given(question, see), wanted = question.wanted, people = this.people;
      const found = this.sums(values, given, done, [...Object.keys(wanted), ...people.faces]);
      const both = {...found.weight};
      for (const [name, state] of Object.entries(wanted)) {
        const own = this.one(name, found.env, state).table;
        both[name] = both[name] ? both[name].map((w, i) => w * own[i]) : own;
      }
      const left = people.left(people.faces.filter(n => n in done));
      const of = weight => {
        const [total, slots] = found.total(weight);
        if (found.place < 0) return left.map(() => total);
        const slope = backward(found.plan, slots, weight).slope[found.place];
        return left.map(i => slope[i]);
      };
      return {joint: of(both), evidence: Object.keys(given).length ? of(found.weight) : left.map(() => 1)};
    }

    // Whether what is seen is likelier of some people than of others.
    parts({evidence}) {
      const mine = evidence.filter((_, i) => this.people.mean[i]);
      return mine.some(e => Math.abs(e - mine[0]) > HAIR);
    }

    // Between what shares of people are above a level, and the share by the middles of the cells.
    // A person is above it where sum_f law(f) (joint(f) - level evidence(f)) > 0; of a cell the least
    // and the largest such sum decide, over all laws in it.
    sharesAbove({joint, evidence}, level) {
      const gain = joint.map((p, i) => p - level * evidence[i]);
      const order = gain.map((_, i) => i).sort((a, b) => gain[b] - gain[a]), rest = this.payload.people.rest;
      let low = 0, high = rest[1], under = 0, others = rest[1], mine = 0, all = 0;
      for (const c of this.people.cells) {
        if (this.people.most(c, gain, order, -1) > HAIR) low += c.low;
        else others += c.high;
        const never = this.payload.people.custodian && c.law.every((p, i) => !(p * evidence[i] > 0));
        if (!never && this.people.most(c, gain, order, 1) >= -HAIR) high += c.high;
        else under += c.low;
        const middle = (c.low + c.high) / 2;
        mine += c.law.reduce((sum, p, i) => sum + p * gain[i], 0) > HAIR ? middle : 0;
        all += middle;
      }
      return {low: low ? low / (low + others) : 0, high: high / (high + under || 1), share: mine / all};
    }

    // How far the mean over people may be from the library's, as a bound: of chances.
    error({joint, evidence}) {
      const sum = gains => this.people.mean.reduce((total, p, i) => total + p * gains[i], 0);
      const p = sum(joint) / sum(evidence);
      if (!(sum(evidence) > this.payload.people.error)) return 1;
      return Math.max(this.farthest(joint, evidence, p, 1) - p, p - this.farthest(joint, evidence, p, -1));
    }

    // The largest (sign 1) or least mean of joint over mean of evidence that the true mean law can give.
    // All that is known of it is that a share of it, at most, lies elsewhere than on the page: that share
    // comes from where a state of the faces adds least to the best ratio so far, and goes where one adds
    // most, until no ratio is better (Dinkelbach).
    farthest(joint, evidence, start, sign) {
      const law = this.people.mean, can = law.map((_, i) => i).filter(i => law[i]);
      let best = start;
      for (;;) {
        const gain = i => sign * (joint[i] - best * evidence[i]), order = [...can].sort((a, b) => gain(b) - gain(a));
        const moved = [...law];
        let left = this.payload.people.error;
        for (const i of order.slice(1).reverse()) {
          const some = Math.min(left, moved[i]);
          [moved[i], moved[order[0]], left] = [moved[i] - some, moved[order[0]] + some, left - some];
        }
        const sum = gains => moved.reduce((total, p, i) => total + p * gains[i], 0), next = sum(joint) / sum(evidence);
        if (!(sign * (next - best) > HAIR)) return best;
        best = next;
      }
    }
  }

  return {Model};
})();
