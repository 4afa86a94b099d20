// The page: what is seen, done and set, and everything that follows from it.
(() => {
  const held = JSON.parse(document.getElementById("held").textContent);
  const words = held.words, model = new Engine.Model(held), drawn = held.drawn;
  const $ = id => document.getElementById(id);
  const STEPS = 1000, POINTS = 33, BROAD = 1050, SLICE = 6, PATIENCE = 4000, MOST_USES = 5, SVG = "http://www.w3.org/2000/svg";

  // -- words and numbers ----------------------------------------------------------------------------

  const say = (key, said = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => said[name] ?? "");
  const thousands = text => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const whole = n => thousands(String(Math.round(n)));

  function short(x) {
    if (Number.isInteger(x)) return thousands(String(x));
    const text = String(+x.toPrecision(5));
    const [left, right] = text.split(".");
    return right && !text.includes("e") ? `${thousands(left)}.${right}` : text;
  }

  function percent(p) {
    if (p === 0 || p === 1) return `${100 * p}\u00a0%`;
    if (p < 0.001) return `${(100 * p).toPrecision(2).replace(/e.*/, m => `·10^${+m.slice(1)}`)}\u00a0%`;
    if (p > 0.999) return ">99.9\u00a0%";
    return `${(100 * p).toFixed(p < 0.01 ? 2 : 1)}\u00a0%`;
  }

  // What only rounding keeps from certain is certain.
  const settled = p => (p > 1 - 4e-15 ? 1 : p);
  const brief = p => (p > 0 && p < 0.001 ? "<0.1\u00a0%" : percent(p));

  function oneIn(p) {
    if (!(p > 0)) return say("never");
    if (p >= 1) return say("sure");
    if (p < 0.5) {
      const n = 1 / p, digits = Math.max(0, String(Math.floor(n)).length - 2);
      return say("one_in", {n: n < 10 ? String(+n.toPrecision(2)) : whole(Math.round(n / 10 ** digits) * 10 ** digits)});
    }
    let best = 2;
    for (let n = 3; n <= 20; n++) if (Math.abs(Math.round(p * n) / n - p) < Math.abs(Math.round(p * best) / best - p)) best = n;
    return Math.round(p * best) < best ? say("k_in", {k: Math.round(p * best), n: best}) : percent(p);
  }

  function listed(parts) {
    return parts.length < 2 ? parts.join("") : parts.slice(0, -1).join(", ") + words.and + parts.at(-1);
  }

  // -- elements ---------------------------------------------------------------------------------------

  function make(tag, said = {}, ...inside) {
    const made = said.svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(said)) {
      if (name === "svg" || value === undefined || value === null) continue;
      if (name === "text") made.textContent = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value);
    }
    made.append(...inside);
    return made;
  }
  const drawIn = (tag, said) => make(tag, {svg: 1, ...said});
  const told = text => { $("said").textContent = text; };

  // -- the state of the page ----------------------------------------------------------------------------

  const params = new Map(held.parameters.map(p => [p.name, p]));
  const free = held.parameters.filter(p => p.frozen === null);
  const fresh = () => ({question: 0, set: model.start(), see: {...held.start.see}, do: {...held.start.do}});
  let now = fresh(), before = null, mode = "see", guesses = [], hiding = false;

  const question = () => held.questions[now.question];
  const seen = () => model.given(question(), now.see);

  // What the state gives: chances of all, the answer; or why there is none.
  function found(state, whole = true) {
    const q = held.questions[state.question];
    try {
      const all = whole ? model.all(state.set, model.given(q, state.see), state.do) : {};
      const own = model.ask(state.set, q, state.see, state.do);
      return {...all, ...own, error: held.people ? model.error(own.evidence) : 0};
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return {refused: say(problem.key, problem.said)};
    }
  }

  // What the state before gives is worked out once.
  function kept(work) {
    let key = null, value = null;
    return state => {
      const mine = JSON.stringify([state.question, state.set, state.see, state.do]);
      if (mine !== key) [key, value] = [mine, work(state)];
      return value;
    };
  }
  const foundBefore = kept(state => found(state, !held.cover)),
    wholeBefore = kept(state => found(state)), aboveBefore = kept(state => above(state));

  const allowed = set => {
    try {
      model.factors(model.env(set));
      return "";
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return say(problem.key, problem.said);
    }
  };

  // A value as near to the wanted one as the conditions allow.
  function near(p, wanted) {
    const at = x => ({...now.set, [p.name]: x});
    let why = allowed(at(wanted));
    if (!why) return [wanted, ""];
    const first = why;
    let good = now.set[p.name], bad = wanted;
    if (p.stops) {
      const between = p.stops.filter(x => (x - good) * (x - bad) <= 0);
      between.sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted));
      return [between.find(x => !allowed(at(x))) ?? good, first];
    }
    for (let i = 0; i < 60 && Math.abs(bad - good) > (p.whole ? 1 : 1e-12 * Math.abs(good)); i++) {
      const middle = p.whole ? Math.trunc((good + bad) / 2) : (good + bad) / 2;
      if (middle === good || middle === bad) break;
      if (allowed(at(middle))) bad = middle; else good = middle;
    }
    return [good, first];
  }

  // -- a slider's places and values ---------------------------------------------------------------------

  const isWide = p => !p.chance && p.high - p.low >= 1000;
  const toPlace = (p, x) => {
    if (p.stops) return p.stops.reduce((best, s, i) => (Math.abs(s - x) < Math.abs(p.stops[best] - x) ? i : best), 0);
    const share = isWide(p) ? Math.log1p(x - p.low) / Math.log1p(p.high - p.low) : (x - p.low) / (p.high - p.low);
    return share * STEPS;
  };
  const toValue = (p, place) => {
    if (p.stops) return p.stops[Math.round(place)];
    const share = place / STEPS;
    if (share <= 0) return p.low;
    if (share >= 1) return p.high;
    const x = isWide(p) ? p.low + Math.expm1(share * Math.log1p(p.high - p.low)) : p.low + share * (p.high - p.low);
    return p.whole ? Math.round(x) : +x.toPrecision(isWide(p) ? 3 : 6);
  };
  const last = p => (p.stops ? p.stops.length - 1 : STEPS);

  // -- the answer ---------------------------------------------------------------------------------------

  const parts = {};

  function buildAnswer() {
    const choose = make("select", {"aria-label": words.question, onchange: e => {
      now.question = +e.target.value;
      before = null;
      update();
    }});
    held.questions.forEach((q, i) => choose.append(make("option", {value: i, text: q.name ? `${q.name}: ${q.asked}` : q.asked})));
    parts.choose = choose;
    parts.predict = make("button", {text: words.predict, onclick: predict});
    parts.number = make("p", {class: "number"});
    parts.sentence = make("p", {class: "sentence"});
    parts.note = make("p", {class: "note"});
    parts.warn = make("p", {class: "note warn"});
    parts.track = make("div", {class: "track secret", role: "img"});
    parts.scale = make("div", {class: "scale secret"});
    parts.dots = drawIn("svg", {class: "dots", viewBox: "0 0 500 100", preserveAspectRatio: "xMinYMin", role: "img"});
    parts.dotsSaid = make("p", {class: "dots-said"});
    parts.guess = make("div", {class: "guess"});
    $("answer").append(
      make("h2", {id: "answer-title", text: words.answer}),
      make("div", {class: "asks"}, ...(held.questions.length > 1 ? [choose] : []),
        parts.predict,
        make("button", {text: words.remember, onclick: () => { before = structuredClone(now); update(); }}),
        make("button", {text: words.reset, onclick: () => { now = {...fresh(), question: now.question}; before = null; update(); }})),
      make("div", {class: "answer"},
        make("div", {}, parts.number, parts.sentence, parts.note, parts.warn,
          make("div", {class: "compare"}, parts.track, parts.scale)),
        make("div", {class: "secret"}, parts.dots, parts.dotsSaid)),
      parts.guess);
    parts.guess.hidden = true;
  }

  const shownValue = (x, q) => (q.scale ? short(+x.toPrecision(4)) : percent(x));

  function inWords(result) {
    const q = question();
    const known = [...q.known.filter((_, i) => !(Object.values(q.by)[i] in now.see)),
      ...Object.entries(now.see).map(([node, state]) => say("is", {node, state}))];
    const done = Object.entries(now.do).map(([node, state]) => say("is", {node, state}));
    const error = q.scale ? result.error * (q.scale.high - q.scale.low) : result.error;
    const key = held.people ? "sentence_people" : q.scale ? "sentence_mean" : "sentence";
    return say(key, {asked: q.asked, p: shownValue(result.value, q), error: q.scale ? short(error) : percent(error), people: held.people ? about() : ""})
      + (known.length ? say("given", {known: listed(known)}) : "")
      + (done.length ? say("done", {done: listed(done)}) : "") + ".";
  }

  function showAnswer(result, old) {
    const q = question(), good = !result.refused && !Number.isNaN(result.p);
    parts.choose.value = String(now.question);
    const rough = good && held.people && !q.scale && result.error >= result.p;
    parts.number.replaceChildren(rough ? say("up_to", {p: percent(Math.min(1, result.p + result.error))}) : good ? shownValue(result.value, q) : "—",
      ...(good && !q.scale && !rough ? [make("small", {text: oneIn(result.p)})] : []));
    parts.sentence.textContent = hiding ? say("predict_help", {asked: q.asked})
      : result.refused ? result.refused : good ? inWords(result) : words.no_evidence;
    const notes = [...held.cut];
    if (held.left_out.length) notes.push(say("left_out", {names: listed(held.left_out), model: held.name}));
    if (good && q.counts) notes.push(say(atStart() ? "by_counts" : "by_counts_there", {low: percent(q.counts[0]), high: percent(q.counts[1])}));
    if (good && q.story) notes.push(`${q.story.replace(/\.$/, "")}.`);
    if (good && Object.keys(seen()).length) notes.push(say("chance_of_evidence", {p: percent(result.evidence)}));
    if (held.people && held.people.scenario) notes.push(say("scenario", {title: held.people.scenario}));
    if (held.example && !held.people) notes.push(words.person);
    parts.note.textContent = hiding ? "" : notes.join(" ");
    const was = old && !old.refused && !Number.isNaN(old.p) ? old : null;
    const most = q.scale ? q.scale.high : topOf(Math.max(good ? result.p : 0, was ? was.p : 0));
    const least = q.scale ? q.scale.low : 0, wide = x => `${(100 * (x - least)) / (most - least || 1)}%`;
    parts.track.replaceChildren();
    if (good) {
      const bar = make("i");
      bar.style.width = wide(result.value);
      parts.track.append(bar);
    }
    if (was) {
      const ghost = make("b");
      ghost.style.width = wide(was.value);
      parts.track.append(ghost);
    }
    parts.track.setAttribute("aria-label", `${words.now} ${good ? shownValue(result.value, q) : "—"}` +
      (was ? `, ${words.before} ${shownValue(was.value, q)}` : ""));
    parts.scale.replaceChildren(
      make("span", {text: q.scale ? short(least) : "0"}),
      make("span", {text: was ? `${words.before}: ${shownValue(was.value, q)}` : ""}),
      make("span", {text: q.scale ? short(most) : percent(most)}));
    showDots(good && !q.scale ? result.p : null);
    if (!hiding) told(parts.sentence.textContent);
  }

  const atStart = () => { const then = fresh(); return ["set", "see", "do"].every(what => JSON.stringify(now[what]) === JSON.stringify(then[what])); };

  const topOf = p => [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].find(top => p <= top * 0.98) ?? 1;

  function showDots(p) {
    parts.dots.style.display = p === null ? "none" : "";
    parts.dotsSaid.textContent = "";
    if (p === null) return;
    const count = p >= 0.02 || p === 0 ? 100 : 1000, on = p * count < 1 ? 0 : Math.round(p * count);
    const across = count === 100 ? 20 : 50, step = 500 / across, down = count / across;
    if (parts.dots.childElementCount !== count) {
      parts.dots.setAttribute("viewBox", `0 0 500 ${down * step}`);
      parts.dots.replaceChildren(...Array.from({length: count}, (_, i) => drawIn("circle", {
        cx: (i % across + 0.5) * step, cy: (Math.floor(i / across) + 0.5) * step, r: step * 0.36})));
    }
    [...parts.dots.children].forEach((dot, i) => { if (dot.classList.contains("on") !== i < on) dot.classList.toggle("on"); });
    const text = p > 0 && on === 0 ? say("people_few", {n: whole(count)}) : say(held.people ? "people_mean" : "people_of", {k: whole(on), n: whole(count)});
    parts.dots.setAttribute("aria-label", text);
    parts.dotsSaid.textContent = text;
  }

  // -- predict first ----------------------------------------------------------------------------------------

  function predict() {
    hiding = true;
    guesses = [];
    document.body.classList.add("hiding");
    const field = make("input", {type: "number", min: 0, max: 100, step: "any", "aria-label": words.guess, placeholder: "%"});
    const line = make("div", {class: "guesses"}), count = make("span", {class: "note"});
    const add = () => {
      const p = Number(field.value);
      if (field.value === "" || !(p >= 0 && p <= 100)) return;
      guesses.push(p);
      const dot = make("i");
      dot.style.left = `${p}%`;
      line.append(dot);
      count.textContent = say("guesses_so_far", {n: guesses.length});
      field.value = "";
      field.focus();
    };
    field.addEventListener("keydown", e => { if (e.key === "Enter") add(); });
    const reveal = make("button", {text: words.reveal, onclick: () => {
      hiding = false;
      document.body.classList.remove("hiding");
      const result = update(), q = question();
      const p = result.refused || Number.isNaN(result.p) ? null : result.p;
      const sorted = [...guesses].sort((a, b) => a - b), n = sorted.length;
      if (p !== null && n) {
        const middle = (sorted[Math.floor((n - 1) / 2)] + sorted[Math.ceil((n - 1) / 2)]) / 2;
        const mark = make("b");
        mark.style.left = `${100 * p}%`;
        line.append(mark);
        count.textContent = say(n === 1 ? "guesses_one" : "guesses", {n, middle: `${short(middle)}\u00a0%`, p: shownValue(result.value, q)});
      } else parts.guess.hidden = true;
      reveal.remove();
      parts.predict.focus();
    }});
    parts.guess.replaceChildren(make("div", {class: "row"}, field, make("button", {text: words.add, onclick: add}), reveal, count), line);
    parts.guess.hidden = false;
    update();
    field.focus();
  }

  // -- the graph ----------------------------------------------------------------------------------------------

  const shownCards = new Map();

  function click(node, state) {
    if (mode === "do" && locked.has(node)) return told(words.locked);
    const mine = mode === "see" ? now.see : now.do, other = mode === "see" ? now.do : now.see;
    if (mine[node] === state) delete mine[node];
    else mine[node] = state;
    delete other[node];
    update();
  }

  // A member of a group has one bar: known, not known, and left open in turn.
  const turn = node => click(node, (mode === "see" ? now.see : now.do)[node] === "yes" ? "no" : "yes");
  const turned = node => ((mode === "see" ? now.see : now.do)[node] === "no" ? click(node, "no") : turn(node));

  function stateButton(node, state, label, act = () => click(node, state)) {
    const bar = make("i", {class: state === "no" ? "no" : null}), ghost = make("b"), p = make("span", {class: "p"});
    const button = make("button", {class: "state", type: "button", "aria-pressed": "false", onclick: act},
      make("span", {text: label, title: label}), make("span", {class: "bar"}, bar, ghost), p);
    bar.classList.add("secret"); ghost.classList.add("secret"); p.classList.add("secret");
    return {node, state, label, bar, ghost, p, button};
  }

  function buildGraph() {
    const modes = make("div", {class: "modes", role: "group", "aria-label": words.mode});
    const help = make("span", {class: "modes-help"});
    for (const name of ["see", "do"]) {
      modes.append(make("button", {class: name, type: "button", text: words[name], onclick: () => { mode = name; turned(); }}));
    }
    const turned = () => {
      [...modes.children].forEach(b => b.setAttribute("aria-pressed", String(b.classList.contains(mode))));
      help.textContent = words[`${mode}_help`];
    };
    turned();
    parts.clear = make("button", {text: words.clear, onclick: () => { now.see = {}; now.do = {}; update(); }});
    parts.clear.hidden = true;
    const plane = make("div", {class: "plane"}), lines = drawIn("svg", {width: drawn.width, height: drawn.height, "aria-hidden": "true"});
    plane.style.width = `${drawn.width}px`;
    plane.style.height = `${drawn.height}px`;
    plane.append(lines);
    parts.arrows = drawn.arrows.map(arrow => {
      const points = arrow.points.map(xy => [...xy]), end = points.at(-1);
      const tip = [end[0], end[1] - 7];
      let path = "";
      [...points.slice(0, -1), tip].forEach(([x, y], i, all) => {
        if (i === 0) path = `M${x} ${y}`;
        else if (i % 2) path += `L${x} ${y}`;
        else path += `C${all[i - 1][0]} ${(all[i - 1][1] + y) / 2} ${x} ${(all[i - 1][1] + y) / 2} ${x} ${y}`;
      });
      path = points.length === 2 ? `M${points[0].join(" ")}C${points[0][0]} ${(points[0][1] + tip[1]) / 2} ${tip[0]} ${(points[0][1] + tip[1]) / 2} ${tip.join(" ")}` : bent(points, tip);
      const line = drawIn("path", {d: path});
      const [x, y] = end;
      lines.append(line, drawIn("path", {class: "head", d: `M${x} ${y}l-4.5 -8h9z`}));
      if (arrow.only) {
        const left = points.at(-2)[0] > x;
        lines.append(make("text", {svg: 1, x: left ? x - 8 : x + 8, y: y - 8, "text-anchor": left ? "end" : "start", text: arrow.only}));
      }
      return {...arrow, line};
    });
    for (const card of drawn.cards) plane.append(buildCard(card));
    parts.plane = plane;
    parts.space = make("div", {class: "space"}, plane);
    $("graph").append(make("h2", {id: "graph-title", text: words.graph}), make("p", {class: "help", text: [words.graph_help, drawn.said].join(" ")}),
      make("div", {class: "bench"}, modes, help, parts.clear), parts.space,
      make("p", {class: "instead", text: say("graph_too_large", {n: drawn.cards.length})}));
    fit();
    window.addEventListener("resize", fit);
    window.addEventListener("beforeprint", () => { fit("print"); finish(); });
    window.addEventListener("afterprint", () => fit());
  }

  // Straight within a row and a bend between two rows, in turn.
  function bent(points, tip) {
    const all = [...points.slice(0, -1), tip];
    let path = `M${all[0].join(" ")}`;
    for (let i = 1; i < all.length; i++) {
      const [x1, y1] = all[i - 1], [x2, y2] = all[i], middle = (y1 + y2) / 2;
      path += (i - 1) % 2 ? `C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` : `L${x2} ${y2}`;
    }
    return path;
  }

  function fit(how) {
    const room = how === "print" ? 900 : parts.space.clientWidth - 18;
    const lines = (text, wide) => Math.ceil((text ?? "").length / wide);
    const stands = held.stands_on.reduce((n, s) => n + Math.max(1, lines(s.source, 62)), 0);
    const sheet = Math.max(150, 835 - 22 * lines(held.story, 125) - 24 * held.parameters.length - 21 * stands
      - (held.people ? 265 : 0) - 110 * held.decisions.length - 20 * held.cut.length);
    const scale = how === "print" ? Math.min(1, room / drawn.width, sheet / drawn.height) : Math.min(1, room / drawn.width);
    const long = drawn.cards.some(card => card.each.length > 8); // a sheet of paper does not scroll
    const list = how === "print" ? long : window.innerWidth < 700 || scale < 0.62;
    $("sliders").classList.toggle("sticks", $("sliders").offsetHeight < window.innerHeight - 28);
    $("graph").classList.toggle("too-large", how === "print" && scale < 0.2);
    parts.space.classList.toggle("list", list);
    parts.plane.style.transform = list ? "" : `scale(${scale})`;
    parts.plane.style.marginLeft = list ? "" : `${Math.max(0, (room - drawn.width * scale) / 2)}px`;
    parts.space.style.height = list ? "" : `${drawn.height * scale + 8}px`;
  }

  function buildCard(card) {
    const made = make("div", {class: `card ${card.members.length ? "group" : card.each.length ? "plate" : card.kind}`, role: "group", "aria-label": card.name, title: card.rule});
    const [x, y, w, h] = card.box;
    Object.assign(made.style, {left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px`});
    const mark = make("span", {class: "mark"});
    made.append(make("h3", {}, make("span", {text: card.name}), mark));
    if (card.after.length) made.append(make("p", {class: "after", text: say("after", {parents: card.after.join(", ")})}));
    if (card.story) made.append(make("p", {text: card.story}));
    if (card.rule) made.append(make("p", {class: "rule", text: card.rule}));
    if (card.each.length) made.append(make("p", {class: "of", text: say("of_them", {n: card.each.length})}));
    const many = card.numbers.length > MOST_USES;
    if (many) made.append(make("p", {class: "uses", text: say("uses_many", {n: card.numbers.length})}));
    const uses = (many ? [] : card.numbers).map(name => {
      const line = make("p", {class: params.get(name)?.assumed ? "uses assumed" : "uses"});
      made.append(line);
      return [name, line];
    });
    const own = {card, made, mark, uses, rows: [], many: null};
    shownCards.set(card.name, own);
    if (hides(card.members[0] ?? card.name)) {
      made.append(make("p", {class: "rule", text: words.each}));
    } else if (card.members.length) {
      own.rows = card.members.map(m => stateButton(m, "yes", m, () => turned(m)));
    } else if (card.each.length) {
      own.rows = card.each.map(([label, node]) => stateButton(node, "yes", label, () => turned(node)));
    } else if (card.kind !== "utility") {
      const states = model.nodes.get(card.name).states;
      if (Array.isArray(states) && states.length <= 8) own.rows = states.map(s => stateButton(card.name, s, s));
      else {
        own.many = make("div", {class: "many secret", "aria-hidden": "true"});
        own.most = make("p", {class: "secret"});
        own.pick = make("select", {"aria-label": `${card.name}: ${words.choose}`, onchange: e => {
          delete now.see[card.name]; delete now.do[card.name];
          if (e.target.value) (mode === "see" ? now.see : now.do)[card.name] = e.target.value;
          update();
        }});
        made.append(own.many, own.most, own.pick);
      }
    }
    const box = card.each.length > 8 ? make("div", {class: "rows"}) : made;
    own.rows.forEach(r => box.append(r.button));
    if (box !== made) made.append(box);
    return made;
  }

  function showGraph(result, old) {
    const done = new Set(Object.keys(now.do)), known = seen();
    parts.clear.hidden = !Object.keys(now.see).length && !done.size;
    for (const own of shownCards.values()) {
      const one = !own.card.members.length && !own.card.each.length;
      const names = one ? [own.card.name] : [...own.card.members, ...own.card.each.map(e => e[1])];
      const set = names.filter(n => done.has(n)), saw = names.filter(n => n in known);
      own.made.classList.toggle("done", set.length > 0);
      own.made.classList.toggle("seen", !set.length && saw.length > 0);
      own.mark.textContent = set.length ? words.set : saw.length ? words.seen : "";
      for (const [name, line] of own.uses) {
        const value = result.env ? result.env[name] : now.set[name];
        line.textContent = `${name} = ${short(value)}${params.get(name)?.assumed ? ` (${words.assumed})` : ""}`;
      }
      for (const r of own.rows) {
        const at = (from, state) => (from && !from.refused && from.marginals[r.node] ? from.marginals[r.node][from.states[r.node].indexOf(state)] : NaN);
        const p = settled(at(result, r.state)), was = at(old, r.state);
        r.bar.style.width = Number.isNaN(p) ? "0" : `${100 * p}%`;
        r.p.textContent = Number.isNaN(p) ? "—" : brief(p);
        r.ghost.hidden = Number.isNaN(was) || Math.abs(was - p) < 5e-4;
        r.ghost.style.left = `calc(${100 * was}% - 1px)`;
        const mine = known[r.node] ?? now.do[r.node];
        r.button.setAttribute("aria-pressed", String(one ? mine === r.state : mine !== undefined));
        r.button.setAttribute("aria-label", `${own.card.name === r.node ? "" : `${own.card.name}: `}${say("is", {node: r.node, state: r.state})}, ${r.p.textContent}`);
        if (!one) r.button.firstChild.textContent = mine === "no" ? `${r.label} (no)` : r.label;
      }
      if (own.many) showMany(own, result);
    }
    for (const arrow of parts.arrows) arrow.line.classList.toggle("cut", shownCards.get(arrow.to).made.classList.contains("done"));
  }

  function showMany(own, result) {
    const name = own.card.name, p = result.refused ? [] : result.marginals[name], states = result.refused ? [] : result.states[name];
    const top = Math.max(...p, 1e-300), groups = Math.min(states.length, 90);
    own.many.replaceChildren(...Array.from({length: groups}, (_, g) => {
      const from = Math.floor(g * states.length / groups), to = Math.floor((g + 1) * states.length / groups);
      const bar = make("i");
      bar.style.height = `${100 * Math.max(...p.slice(from, to)) / top}%`;
      return bar;
    }));
    const best = p.indexOf(Math.max(...p));
    own.most.textContent = best >= 0 ? say("most_likely", {state: states[best], p: brief(p[best])}) : "";
    const wanted = now.see[name] ?? now.do[name] ?? "";
    if (own.pick.length !== states.length + 1) {
      own.pick.replaceChildren(make("option", {value: "", text: words.choose}), ...states.slice(0, 400).map(s => make("option", {value: s, text: s})));
    }
    own.pick.value = wanted;
  }

  // -- the numbers --------------------------------------------------------------------------------------------

  const shownSliders = new Map();

  function buildSliders() {
    const box = $("sliders");
    box.append(make("h2", {id: "sliders-title", text: words.sliders}), make("p", {class: "help", text: words.sliders_help}));
    parts.stuck = make("p", {class: "stuck", role: "status"});
    parts.stuck.hidden = true;
    const all = make("div", {class: "all"});
    box.append(parts.stuck, all);
    for (const p of held.parameters) {
      if (p.frozen === "") continue;
      const id = `p-${p.name}`, unit = p.chance ? "" : p.unit;
      const name = make("label", {for: id, text: p.name});
      const made = make("div", {class: "slider"});
      if (p.assumed) name.append(make("span", {class: "chip", text: words.assumption}));
      const printed = make("span", {class: "printed"});
      const typed = make("input", {type: "number", step: "any", min: p.low, max: p.high, "aria-label": say("value_of", {name: p.name}), onchange: e => moved(p, Number(e.target.value))});
      made.append(make("div", {class: "top"}, name, make("span", {class: "typed"}, typed, printed, unit)));
      if (p.story) made.append(make("p", {class: "tells", text: p.story}));
      const own = {p, typed, printed, range: null};
      if (p.frozen !== null) {
        typed.disabled = true;
        made.append(make("p", {class: "stuck", text: say("frozen", {reason: p.frozen})}));
      } else {
        own.range = make("input", {id, type: "range", min: 0, max: last(p), step: p.stops ? 1 : "any", oninput: e => moved(p, toValue(p, +e.target.value)),
          onkeydown: e => stepped(e, p)});
        own.svg = drawIn("svg", {viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true", class: "secret"});
        own.swing = make("span", {class: "secret"});
        made.append(make("div", {class: "curve"}, own.svg, own.range),
          make("div", {class: "ends"}, make("span", {text: short(p.low)}), own.swing, make("span", {text: short(p.high)})));
        if (p.stops) made.append(make("p", {class: "tells", text: say("stops", {n: p.stops.length})}));
      }
      if (p.source !== "assumption") made.append(make("p", {class: "tells source", text: p.source}));
      if (p.frozen !== null) typed.id = id;
      all.append(made);
      shownSliders.set(p.name, own);
    }
  }

  function stepped(event, p) {
    const step = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
    if (!step) return;
    event.preventDefault();
    const here = toPlace(p, now.set[p.name]), span = p.stops ? 1 : STEPS / 100;
    let wanted = toValue(p, Math.min(last(p), Math.max(0, here + step * span)));
    if (p.whole && !p.stops && wanted === now.set[p.name]) wanted += Math.sign(step);
    moved(p, Math.min(p.high, Math.max(p.low, wanted)));
  }

  function moved(p, wanted) {
    if (!Number.isFinite(wanted)) return update();
    let value = Math.min(p.high, Math.max(p.low, p.whole ? Math.round(wanted) : wanted));
    if (p.stops) value = p.stops[toPlace(p, value)];
    const [got, why] = near(p, value);
    now.set[p.name] = got;
    parts.stuck.hidden = !why;
    parts.stuck.textContent = why ? say("not_allowed", {why}) : "";
    return update();
  }

  function showSliders() {
    for (const {p, typed, printed, range} of shownSliders.values()) {
      const x = now.set[p.name];
      printed.textContent = short(x);
      typed.value = String(x);
      if (range) {
        range.value = toPlace(p, x);
        range.setAttribute("aria-valuetext", `${short(x)}${p.chance ? "" : ` ${p.unit}`}`);
      }
    }
    later();
  }

  // The state in the address: browsers take their time for it, so not while a slider moves.
  const remember = () => {
    try { history.replaceState(null, "", `#${link()}`); } catch { /* a frame without an address */ }
  };

  let waiting = null, graphLater = null, finish = () => {};
  const later = () => {
    clearTimeout(waiting);
    const rest = () => { graphLater?.(); showCurves(); remember(); };
    waiting = setTimeout(rest, held.cover ? 150 : 40);
    finish = () => { clearTimeout(waiting); rest(); finish(); };
  };

  // The answer along one slider: [place, value, what is decided], where the model allows it.
  function* along(p) {
    const q = question(), count = p.stops ? p.stops.length : POINTS, points = [], met = new Set();
    for (let i = 0; i < count; i++) {
      const place = (i * last(p)) / (count - 1 || 1), x = toValue(p, place);
      if (met.has(x)) continue;
      met.add(x);
      try {
        const set = {...now.set, [p.name]: x};
        const result = model.ask(set, q, now.see, now.do);
        const decided = Object.values(result.policies ?? {}).map(c => c.policy.join()).join(";");
        if (!Number.isNaN(result.value)) points.push([toPlace(p, x) / last(p), result.value, decided]);
      } catch (problem) {
        if (!(problem instanceof Refused)) throw problem;
      }
      yield points;
    }
    return points;
  }

  // All curves, a few points at a time: a slider that moves meanwhile begins them anew.
  function showCurves() {
    const all = new Map(), work = (function* () {
      for (const p of free) all.set(p.name, yield* along(p));
    })();
    const some = slice => {
      const until = performance.now() + slice;
      for (let done = false; !done;) {
        if (performance.now() > until) {
          waiting = setTimeout(some, 0, SLICE);
          return;
        }
        ({done} = work.next());
      }
      finish = () => {};
      drawCurves(all);
    };
    finish = () => { clearTimeout(waiting); some(PATIENCE); };
    some(SLICE);
  }

  function drawCurves(all) {
    const q = question();
    const values = [...all.values()].flat().map(x => x[1]);
    const high = Math.max(...values), low = q.scale ? Math.min(...values) : 0;
    for (const p of free) {
      const own = shownSliders.get(p.name), points = all.get(p.name), y = v => 38 - (35 * (v - low)) / (high - low || 1);
      own.svg.replaceChildren();
      if (points.length > 1) {
        const corners = points.flatMap(([x, v, decided], i) => {
          const old = points[i - 1], at = i && decided !== old[2] ? (x + old[0]) / 2 : null;
          return [...(at === null ? [] : [[at, old[1]], [at, v]]), [x, v]];
        });
        const edge = corners.map(([x, v]) => `${(100 * x).toFixed(2)} ${y(v).toFixed(2)}`).join("L");
        own.svg.append(drawIn("path", {class: "area", d: `M${100 * points[0][0]} 40L${edge}L${100 * points.at(-1)[0]} 40z`}),
          drawIn("path", {class: "edge", d: `M${edge}`}));
        points.forEach(([x, , decided], i) => {
          if (i && decided !== points[i - 1][2]) {
            const at = 50 * (x + points[i - 1][0]);
            own.svg.append(drawIn("path", {class: "flip", d: `M${at} 2V40`}));
          }
        });
      }
      const here = (100 * toPlace(p, now.set[p.name])) / last(p);
      own.svg.append(drawIn("path", {class: "here", d: `M${here} 2V40`}));
      const start = (before ?? fresh()).set[p.name];
      if (start !== now.set[p.name]) own.svg.append(drawIn("path", {class: "was", d: `M${(100 * toPlace(p, start)) / last(p)} 2V40`}));
      const mine = points.map(x => x[1]), top = Math.max(...mine), bottom = Math.min(...mine);
      const still = !mine.length || top - bottom <= 1e-12 * Math.max(1, Math.abs(top));
      own.swing.textContent = still ? words.swing_none : say("swing", {low: shownValue(bottom, q), high: shownValue(top, q)});
    }
  }

  // -- decisions ------------------------------------------------------------------------------------------------

  const open = new Set();

  // How often each option is what pays, of all that may be seen before.
  function summary(choice) {
    const k = choice.options.length, times = choice.options.map(() => 0);
    for (let s = 0; s < choice.policy.length; s += k) {
      const row = [...choice.policy.slice(s, s + k)];
      times[row.indexOf(Math.max(...row))]++;
    }
    const cases = choice.policy.length / k;
    return cases === 1 ? say("takes", {option: choice.options[times.indexOf(1)]})
      : choice.options.map((option, i) => say("in_cases", {option, n: times[i], of: cases})).join(", ");
  }

  function showDecisions(result) {
    const box = $("decisions");
    if (!held.decisions.length) return;
    box.hidden = false;
    box.replaceChildren(make("h2", {id: "decisions-title", text: words.decisions}),
      make("p", {class: "help", text: say("decisions_help", {unit: held.utilities[0].unit})}));
    if (result.refused) return;
    for (const [name, choice] of Object.entries(result.policies)) {
      const k = choice.options.length, rows = [], saw = choice.family.slice(0, -1);
      const sizes = saw.map(n => result.states[n].length);
      for (let s = 0; s < choice.policy.length / k; s++) {
        let rest = s;
        const states = [];
        for (let i = saw.length - 1; i >= 0; i--) {
          states.unshift(say("is", {node: saw[i], state: result.states[saw[i]][rest % sizes[i]]}));
          rest = Math.floor(rest / sizes[i]);
        }
        const row = [...choice.policy.slice(s * k, (s + 1) * k)], best = row.indexOf(Math.max(...row));
        const taken = row[best] > 1 - 1e-12 ? choice.options[best] : choice.options.map((o, i) => `${o} ${brief(row[i])}`).join(", ");
        const worths = choice.options.map((o, i) => say("worth", {option: o, worth: short(+choice.worth[s * k + i].toPrecision(6))}));
        rows.push(make("li", {}, states.length ? `${say("when", {seen: listed(states)})}: ` : "",
          make("strong", {text: say("takes", {option: taken})}), make("span", {class: "worths", text: `  (${worths.join(", ")})`})));
      }
      const few = rows.length <= 9;
      box.append(make("div", {class: "policy"}, make("h3", {text: `${name}: ${summary(choice)}`}),
        few ? make("ul", {}, ...rows) : make("details", open.has(name) ? {open: ""} : {},
          make("summary", {text: say("all_cases", {n: rows.length}), onclick: () => { if (!open.delete(name)) open.add(name); }}),
          make("ul", {}, ...rows))));
    }
  }

  // -- what it stands on, and taking it along ---------------------------------------------------------------------

  function buildStands() {
    const assumed = held.stands_on.filter(s => s.assumed).length;
    const rows = held.stands_on.map(s => make("tr", {}, make("td", {text: s.name}), make("td", {text: s.value}),
      make("td", {text: s.source, class: s.assumed ? "assumed" : null})));
    $("stands").append(make("h2", {id: "stands-title", text: words.stands}),
      make("p", {class: "help", text: say("stands_count", {n: assumed, of: held.stands_on.length})}),
      make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": words.stands_table}, make("table", {},
        make("thead", {}, make("tr", {}, ...["name", "value", "source"].map(w => make("th", {scope: "col", text: words[w]})))),
        make("tbody", {}, ...rows))),
      ...(held.sources.length ? [make("ul", {class: "sources"}, ...held.sources.map(text => make("li", {text})))] : []),
      make("p", {class: "help", text: words.limits}));
  }

  const exact = x => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : String(x).replace(/^(-?\d+)e/, "$1.0e"));
  const quoted = text => `"${String(text).replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;

  // The setting as a scenario file: what was set, seen and done.
  function yaml() {
    const knows = held.people?.knows, q = question(), known = Object.entries(seen()), done = Object.entries(now.do);
    const lines = ["schema_version: 1", "kind: scenario", `name: ${held.name}-page`, `title: ${quoted(`A setting of the page of ${held.title}`)}`,
      "source: assumption"];
    if (held.people && !knows) lines.push(`# ${words.yaml_people}`);
    if (knows?.extends) lines.push(`extends: ${knows.extends}`);
    if (knows?.attributes) lines.push("knows:", "  attributes:", ...knows.attributes.map(([name, columns, chance, source]) =>
      `    ${quoted(name)}: {columns: [${columns.map(quoted).join(", ")}], chance: ${exact(chance)}, source: ${quoted(source)}}`));
    const set = free.filter(p => now.set[p.name] !== p.own || knows?.set?.includes(p.name));
    if (q.name) lines.push(`# ${q.name}: ${q.asked.replace(/\s+/g, " ")}`);
    if (set.length) lines.push("set:", ...set.map(p => `  ${p.name}: ${exact(now.set[p.name])}`));
    const plain = known.filter(([n]) => !model.nodes.get(n).helper);
    if (plain.length) lines.push("given:", ...plain.map(([n, s]) => `  ${n}: ${quoted(s)}`));
    if (done.length) lines.push("do:", ...done.map(([n, s]) => `  ${n}: ${quoted(s)}`));
    return `${lines.join("\n")}\n`;
  }

  function link() {
    const pairs = [];
    if (now.question) pairs.push(["q", question().name]);
    free.forEach(p => { if (now.set[p.name] !== p.value) pairs.push([`set.${p.name}`, now.set[p.name]]); });
    Object.entries(now.see).forEach(([n, s]) => pairs.push([`see.${n}`, s]));
    Object.entries(now.do).forEach(([n, s]) => pairs.push([`do.${n}`, s]));
    return pairs.map(pair => pair.map(encodeURIComponent).join("=")).join("&");
  }

  // What a link says, as far as the page knows its names; the rest is left.
  function follow(text) {
    const state = fresh();
    for (const pair of text.replace(/^#/, "").split("&")) {
      let [name, value] = pair.split("=");
      try { [name, value] = [decodeURIComponent(name), decodeURIComponent(value ?? "")]; } catch { continue; }
      const [kind, ...rest] = name.split("."), key = rest.join("."), p = params.get(key);
      const at = kind === "q" ? held.questions.findIndex(q => q.name === value) : -1;
      if (at >= 0) state.question = at;
      if (kind === "set" && p && p.frozen === null && Number.isFinite(Number(value)) && value !== "") {
        const x = Math.min(p.high, Math.max(p.low, Number(value)));
        state.set[key] = p.stops ? p.stops[toPlace(p, x)] : p.whole ? Math.round(x) : x;
      }
      if (kind === "see" || kind === "do") if (model.nodes.has(key) && !model.nodes.get(key).helper && !hides(key) && !(kind === "do" && locked.has(key))) state[kind][key] = value;
    }
    if (allowed(state.set)) state.set = model.start();
    for (const kind of ["see", "do"]) {
      for (const [n, s] of Object.entries(state[kind])) {
        if (!model.states(n, model.env(state.set)).includes(s)) delete state[kind][n];
      }
    }
    return state;
  }

  function buildOwn() {
    parts.yaml = make("textarea", {readonly: "", spellcheck: "false", "aria-label": words.yaml});
    const copied = make("span", {class: "note", role: "status"});
    const copy = async text => {
      try { await navigator.clipboard.writeText(text); } catch { parts.yaml.select(); document.execCommand?.("copy"); }
      copied.textContent = words.copied;
      setTimeout(() => { copied.textContent = ""; }, 1500);
    };
    $("own").append(make("h2", {id: "own-title", text: words.own}), make("p", {class: "help", text: !held.people ? words.yaml_help : held.people.knows ? words.yaml_knows : words.yaml_people}), parts.yaml,
      make("div", {class: "row"}, make("button", {text: words.copy, onclick: () => copy(parts.yaml.value)}),
        make("button", {text: words.link, onclick: () => copy(`${location.href.split("#")[0]}#${link()}`)}),
        make("button", {text: words.print, onclick: () => window.print()}), copied));
    $("made").textContent = say("made", {name: held.name, print: held.print});
    $("sealed").textContent = held.people ? words.sealed_people : words.sealed;
  }

  // -- people ---------------------------------------------------------------------------------------------------------

  const counted = held.people ? held.people.cells.reduce((n, c) => n + (c.low + c.high) / 2, 0) : 0;
  const about = () => whole(Math.round(counted / 10) * 10);
  const inside = new Set(held.people ? held.people.inside : []), faces = new Set(held.people ? held.people.faces : []);
  const hides = name => inside.has(name) && !faces.has(name);
  const locked = new Set(held.people ? held.people.locked : []);
  const LEVELS = 120;
  let level = 0.09;

  function buildPeople() {
    if (!held.people) return;
    const p = held.people;
    parts.chart = drawIn("svg", {class: "chart secret", viewBox: "0 0 720 264", role: "img"});
    parts.level = make("input", {id: "level", type: "range", min: 0, max: 1, step: "any", oninput: e => { level = +(e.target.value ** 2).toPrecision(3); showPeople(); }});
    parts.levelSaid = make("p", {class: "sentence secret"});
    $("people").hidden = false;
    $("people").append(make("h2", {id: "people-title", text: say("people", {people: about()})}),
      make("p", {class: "help", text: say("people_help", {cells: p.cells.length, least: p.least, error: short(p.error)})}),
      parts.chart, make("div", {class: "row"}, make("label", {for: "level", text: words.threshold}), parts.level,
        ...[0.05, 0.09, 0.33].map(x => make("button", {text: String(x), onclick: () => { level = x; showPeople(); }}))),
      parts.levelSaid);
  }

  // Shares of people above thresholds: [threshold, {low, high, share}].
  function above(state) {
    try {
      const cells = model.byFaces(state.set, held.questions[state.question], state.see, state.do);
      return Array.from({length: LEVELS + 1}, (_, i) => (i / LEVELS) ** 2).map(t => [t, model.sharesAbove(cells, t)]).concat([[level, model.sharesAbove(cells, level)]]);
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return null;
    }
  }

  function showPeople() {
    if (!held.people) return;
    const points = question().scale ? null : above(now), old = {...(before ?? fresh()), question: now.question};
    const was = JSON.stringify([old.set, old.see, old.do]) === JSON.stringify([now.set, now.see, now.do]) ? null : aboveBefore(old);
    parts.chart.replaceChildren();
    parts.level.value = Math.sqrt(level);
    parts.levelSaid.textContent = "";
    if (!points) return;
    const mine = points.pop()[1], x = t => 46 + 660 * Math.sqrt(t), y = share => 214 - 200 * share;
    const line = (list, key) => list.map(([t, s]) => `${x(t).toFixed(1)} ${y(s[key]).toFixed(1)}`).join("L");
    const label = (at, down, text, anchor = "middle") => make("text", {svg: 1, x: at, y: down, "text-anchor": anchor, text});
    for (const share of [0, 0.5, 1]) parts.chart.append(drawIn("path", {class: "axis", d: `M46 ${y(share)}H706`, opacity: share ? 0.25 : 1}), label(40, y(share) + 4, `${100 * share}\u00a0%`, "end"));
    for (const t of [0, 0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 1]) parts.chart.append(label(x(t), 232, String(t)));
    parts.chart.append(label(376, 256, words.threshold));
    parts.chart.append(drawIn("path", {class: "band", d: `M${line(points, "low")}L${line([...points].reverse(), "high")}z`}));
    if (was) { parts.chart.append(drawIn("path", {class: "was", d: `M${line(was.slice(0, -1), "share")}`})); }
    parts.chart.append(drawIn("path", {class: "edge", d: `M${line(points, "share")}`}), drawIn("path", {class: "limit", d: `M${x(level)} 14V214`}));
    const text = say("above_said", {level: short(level), share: percent(mine.share), low: percent(mine.low), high: percent(mine.high)});
    parts.levelSaid.textContent = text;
    parts.chart.setAttribute("aria-label", text);
  }

  // -- all of it --------------------------------------------------------------------------------------------------------

  function update() {
    // A state that the values no longer have is taken back.
    if (!allowed(now.set)) {
      const env = model.env(now.set);
      for (const mine of [now.see, now.do]) for (const [n, s] of Object.entries(mine)) if (!model.states(n, env).includes(s)) delete mine[n];
    }
    // Of a large network the answer comes first, and the chances of all when the slider rests.
    const was = {...(before ?? fresh()), question: now.question};
    const result = found(now, !held.cover), old = foundBefore(was);
    const same = ["set", "see", "do"].every(part => JSON.stringify(now[part]) === JSON.stringify(was[part]));
    parts.warn.textContent = result.refused ? result.refused : "";
    showAnswer(result, same ? null : old);
    graphLater = held.cover ? () => showGraph(found(now), same ? null : wholeBefore(was)) : null;
    if (!held.cover) showGraph(result, same ? null : old);
    showSliders();
    showDecisions(result);
    showPeople();
    parts.yaml.value = yaml();
    return result;
  }

  document.querySelector("main").classList.toggle("broad", drawn.width > BROAD);
  buildAnswer();
  buildGraph();
  buildSliders();
  buildPeople();
  buildStands();
  buildOwn();
  now = follow(location.hash);
  window.addEventListener("hashchange", () => { if (location.hash.slice(1) !== link()) { now = follow(location.hash); update(); } });
  update();
  fit();
  window.reidbn = {model, held, state: () => now, found: () => found(now), yaml, link};
})();
