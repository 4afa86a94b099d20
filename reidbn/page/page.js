// The page: what is seen, done and set, and everything that follows from it.
(() => {
  const held = JSON.parse(document.getElementById("held").textContent);
  const words = held.words, model = new Engine.Model(held), drawn = held.drawn;
  const $ = id => document.getElementById(id);
  const SHEET = [718, 1003]; // px of one sheet of A4, without the margins of print in page.css
  const DOCKED = 72; // px of a window that the answer at its foot and the margins take
  const SPARE = 30; // px: a line that paper breaks elsewhere
  const ZOOMS = [0.74, 0.7, 0.66, 0.62, 0.58, 0.54, 0.5], DRAWN = 0.5; // of print, and what is left of the picture then, at least
  const STEPS = 1000, POINTS = 33, BROAD = 1050, SLICE = 6, PATIENCE = 4000, MOST_USES = 5, WIDE = 1 / 3, SLIGHT = 0.1, SVG = "http://www.w3.org/2000/svg";

  const {say, listed, short, percent, oneIn, atMost, atLeast, settled, brief, points, whole, written, ended} = Numbers(words);

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
  const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };  // else all is laid out anew
  const told = text => { $("said").textContent = text; };

  // -- the state of the page ----------------------------------------------------------------------------

  const params = new Map(held.parameters.map(p => [p.name, p]));
  const free = held.parameters.filter(p => p.frozen === null);
  const fresh = () => ({question: 0, set: model.start(), see: {...held.start.see}, do: {...held.start.do}});
  let now = fresh(), before = null, mode = "see", guesses = [], hiding = false, revealed = null;
  const START_LEVEL = 0.09;
  const TICKS = [0, 0.01, 0.05, 0.2, 0.5, 1];  // of the bar of a chance: its scale never moves, and is wide where chances are small

  const question = () => held.questions[now.question];
  const seen = () => model.given(question(), now.see);

  // What the state gives: chances of all, the answer; or why there is none.
  function found(state, whole = true) {
    const q = held.questions[state.question];
    try {
      const all = whole ? model.all(state.set, model.given(q, state.see), state.do) : {};
      const own = model.ask(state.set, q, state.see, state.do);
      if (!held.people) return {...all, ...own, error: 0};
      const faces = model.byFaces(state.set, q, state.see, state.do);
      return {...all, ...own, error: model.error(faces), parts: model.parts(faces)};
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

  const isLong = p => !p.chance && p.high - p.low >= 1000;
  const toPlace = (p, x) => {
    if (p.stops) return p.stops.reduce((best, s, i) => (Math.abs(s - x) < Math.abs(p.stops[best] - x) ? i : best), 0);
    const share = isLong(p) ? Math.log1p(x - p.low) / Math.log1p(p.high - p.low) : (x - p.low) / (p.high - p.low);
    return share * STEPS;
  };
  const toValue = (p, place) => {
    if (p.stops) return p.stops[Math.round(place)];
    const share = place / STEPS;
    if (share <= 0) return p.low;
    if (share >= 1) return p.high;
    const x = isLong(p) ? p.low + Math.expm1(share * Math.log1p(p.high - p.low)) : p.low + share * (p.high - p.low);
    if (p.whole) return Math.round(x);
    if (isLong(p)) return +x.toPrecision(3);
    const step = 10 ** (Math.floor(Math.log10(p.high - p.low)) - 3);  // what a hand can mean
    return Math.min(p.high, Math.max(p.low, +(Math.round(x / step) * step).toPrecision(12)));
  };
  const last = p => (p.stops ? p.stops.length - 1 : STEPS);

  // -- the answer ---------------------------------------------------------------------------------------

  const parts = {};

  function buildAnswer() {
    const choose = make("select", {"aria-label": words.question, onchange: e => {
      now.question = +e.target.value;
      before = null;
      parts.kept.textContent = "";
      if (hiding) predict(); else update();
    }});
    held.questions.forEach((q, i) => choose.append(make("option", {value: i, text: labelOf(q)})));
    parts.choose = choose;
    parts.predict = make("button", {text: words.predict, onclick: predict});
    parts.number = make("p", {class: "number"});
    parts.sentence = make("p", {class: "sentence"});
    parts.note = make("p", {class: "note"});
    parts.warn = make("p", {class: "note warn"});
    parts.left = make("p", {class: "note warn"});
    parts.track = make("div", {class: "track secret", role: "img"});
    parts.scale = make("div", {class: "scale secret"});
    parts.uneven = make("p", {class: "note secret on-screen", text: words.uneven});
    parts.dots = drawIn("svg", {class: "dots", viewBox: "0 0 500 100", preserveAspectRatio: "xMinYMin", role: "img"});
    parts.dotsSaid = make("p", {class: "dots-said"});
    parts.guess = make("div", {class: "guess"});
    parts.kept = make("span", {role: "status"});
    parts.was = make("p", {class: "note secret"});
    $("answer").append(
      make("h2", {id: "answer-title", text: words.answer}),
      make("div", {class: "asks"}, ...(held.questions.length > 1 ? [choose] : []),
        parts.predict,
        make("button", {text: words.remember, onclick: keepBefore}),
        make("button", {text: words.reset, onclick: startAgain}), parts.kept),
      make("div", {class: "answer"},
        make("div", {}, parts.number, parts.sentence, parts.note, parts.warn, parts.left,
          make("div", {class: "compare"}, parts.track, parts.scale, parts.uneven, parts.was)),
        make("div", {class: "secret"}, parts.dots, parts.dotsSaid)),
      parts.guess);
    parts.guess.hidden = true;
    parts.sticky = make("div", {class: "sticky", "aria-hidden": "true"});
    document.querySelector("main").append(parts.sticky);
    new IntersectionObserver(([met]) => parts.sticky.classList.toggle("on", !met.isIntersecting)).observe(parts.number);
  }

  // What is now is what comes is held against; and it is said, for nothing else is to be seen of it yet.
  function keepBefore() {
    before = structuredClone(now);
    const result = update();
    parts.kept.textContent = result.refused || Number.isNaN(result.p) || hiding ? words.kept : say("kept_at", {p: numberOf(result)});
  }

  // Everything as the page was opened: what was asked, the threshold, and what a click means, too.
  function startAgain() {
    now = fresh();
    before = revealed = null;
    parts.left.textContent = "";
    level = START_LEVEL;
    quiet();
    turnTo("see");
    present(held.asked.predict);
  }

  // The page with its answer hidden, or not.
  function present(hidden) {
    if (hidden) return predict();
    hide(false);
    parts.guess.hidden = true;
    return update();
  }

  // In a narrow menu the end of a question is cut: what it is asked given comes first.
  const labelOf = q => (q.known.length ? say("given_first", {known: listed(q.known)}) : "") + q.said + (q.said === q.asked ? "" : ` (${q.asked})`);
  const inQuotes = q => (q.said === q.asked ? q.asked : say("quoted", {said: q.said}));

  const shownValue = (x, q) => (q.scale ? short(+x.toPrecision(4)) : percent(x));

  // On what condition the answer is asked: by the question, and by what is seen and done.
  function condition() {
    const q = question(), is = state => Object.entries(state).map(([node, value]) => say("is", {node, state: value}));
    const known = [...q.known.filter((_, i) => !(Object.values(q.by)[i] in now.see)), ...is(now.see)], done = is(now.do);
    return (known.length ? say("given", {known: listed(known)}) : "") + (done.length ? say("done", {done: listed(done)}) : "");
  }

  function inWords(result) {
    const q = question();
    const error = q.scale ? short(result.error * (q.scale.high - q.scale.low)) : points(result.error);
    const own = ofTheHouse ? "_own" : "", sure = (result.error < 1e-9 && !own ? "sentence_all" : result.parts ? "sentence_seen" : "sentence_people") + own;
    const key = held.people ? {rough: "sentence_rough", open: "sentence_open"}[roughly(result, q)] ?? sure : q.scale ? "sentence_mean" : "sentence";
    return `${say(key, {asked: inQuotes(q), p: shownValue(result.value, q), error, people: held.people ? about() : "", high: percent(highest(result))})}${condition()}.`;
  }

  // How little rounding leaves of an answer about people: only what it is at most, from what to what it is, or
  // nothing.  A single number in place of ends far apart would fall where a slider that raises the answer passes.
  const ends = result => [atLeast(Math.max(0, result.p - result.error)), atMost(Math.min(1, result.p + result.error))];
  const highest = result => ends(result)[1];
  function roughly(result, q) {
    if (q.scale || !held.people || result.refused || !(result.error > 0 && result.error >= SLIGHT * result.p)) return "";
    return result.error < result.p ? "range" : highest(result) < 1 ? "rough" : "open";
  }

  const fromTo = (low, high) => (low === high ? low : say("range", {low, high}));

  // The answer as the large number says it.
  function numberOf(result) {
    const rough = roughly(result, question()), [low, high] = rough ? ends(result).map(percent) : [];
    return rough === "open" ? "\u2014" : rough === "rough" ? say("up_to", {p: high}) : rough ? fromTo(low, high) : shownValue(result.value, question());
  }

  function showAnswer(result, old) {
    const q = question(), good = !result.refused && !Number.isNaN(result.p), rough = good ? roughly(result, q) : "";
    const upTo = rough ? highest(result) : result.p;
    parts.choose.value = String(now.question);
    const said = hiding ? "?" : good ? numberOf(result) : "—";
    const small = good && !q.scale && !rough && !hiding ? oneIn(result.p).replace(percent(result.p), "") : "";
    parts.number.replaceChildren(said, ...(small ? [make("small", {text: small})] : []));
    const wasSaid = old && !old.refused && !Number.isNaN(old.p) && roughly(old, q) !== "open" ? say("was", {p: numberOf(old)}) : "";
    parts.sticky.replaceChildren(make("b", {text: said}), make("span", {text: [small, hiding ? "" : wasSaid].filter(Boolean).join("; ")}), make("span", {class: "of", text: q.said}));
    parts.sentence.textContent = hiding ? say(q.scale ? "predict_mean" : "predict_help", {asked: inQuotes(q), condition: condition()})
      : result.refused ? result.refused : good ? inWords(result) : !q.known.length ? words.no_evidence : say("no_evidence_own", {known: listed(q.known)});
    const notes = [...held.cut], beside = besides();
    if (beside.length) notes.push(say("alone", {done: listed(Object.keys(now.do).filter(n => faces.has(n))), others: listed(beside)}));
    if (held.left_out.length) notes.push(say("left_out", {names: listed(held.left_out), model: held.name}));
    if (byKnown(Object.keys(q.wanted))) notes.push(words.by_known);
    const tied = good ? Object.keys(result.policies ?? {}).filter(n => result.policies[n].tied && !(n in now.do)) : [];
    if (tied.length) {
      const worst = model.worst(now.set, q, now.see, now.do);
      notes.push(worst ? say("tied_worst", {names: listed(tied), p: shownValue(worst.value, q)}) : say("tied", {names: listed(tied)}));
    }
    if (good && q.counts) notes.push(say(atStart() ? "by_counts" : "by_counts_there", {low: percent(q.counts[0]), high: percent(q.counts[1])}));
    const story = q.story && !Object.keys(now.see).length && !Object.keys(now.do).length ? ended(q.story) : "";
    if (good) notes.push(story);
    if (good && Object.keys(seen()).length) notes.push(say("chance_of_evidence", {p: percent(result.evidence)}));
    if (held.people && held.people.scenario) notes.push(say("scenario", {title: held.people.scenario}));
    if (held.example && !held.people) notes.push(words.person);
    parts.note.textContent = hiding ? story : notes.filter(Boolean).join(" ");
    const was = old && !old.refused && !Number.isNaN(old.p) ? old : null;
    const least = q.scale ? q.scale.low : 0, most = q.scale ? q.scale.high : 1;
    const wide = x => (q.scale ? `${100 * (x - least) / (most - least || 1)}%` : onBar(x));
    parts.track.replaceChildren();
    if (good) {
      const bar = make("i");
      bar.style.width = wide(rough ? upTo : result.value);
      bar.className = rough;
      parts.track.append(bar);
      if (rough === "range") {
        const sure = make("i");
        sure.style.width = wide(ends(result)[0]);
        parts.track.append(sure);
      }
    }
    if (was) {
      const ghost = make("b");
      ghost.style.width = wide(roughly(was, q) ? highest(was) : was.value);
      parts.track.append(ghost);
    }
    parts.track.setAttribute("aria-label", `${words.now} ${said}` + (was && !hiding ? `, ${words.before} ${numberOf(was)}` : ""));
    parts.scale.replaceChildren(...(q.scale ? [least, most].map(x => tickAt(wide(x), short(x))) : ticks()));
    parts.uneven.hidden = Boolean(q.scale);
    parts.was.textContent = was ? say("before_was", {p: numberOf(was)}) : "";
    showDots(good && !q.scale && rough !== "open" ? upTo : null, rough);
    told(parts.sentence.textContent);
  }

  // Where a chance stands on the bar, and on the line of the guesses below it.
  const onBar = p => `${100 * Math.sqrt(p)}%`;
  const ticks = () => TICKS.map(x => tickAt(onBar(x), `${100 * x}\u00a0%`));

  function tickAt(left, text) {
    const tick = make("span", {text});
    tick.style.left = left;
    return tick;
  }

  const byKnown = names => names.some(n => drawn.cards.some(card => card.name === n && card.note));
  const atStart = () => { const then = fresh(); return ["set", "see", "do"].every(what => JSON.stringify(now[what]) === JSON.stringify(then[what])); };

  // Other boxes that hang on the same people as one that is brought about, and stay as they were.
  const besides = () => {
    const own = Object.keys(now.do).filter(n => faces.has(n));
    return own.length ? [...faces].filter(n => !own.includes(n)) : [];
  };

  function showDots(p, rough) {
    parts.dots.style.display = p === null ? "none" : "";
    parts.dotsSaid.textContent = "";
    if (p === null) return;
    const count = p >= 0.02 || p === 0 ? 100 : 1000, on = rough ? Math.ceil(p * count - 1e-9) : p * count < 1 ? 0 : Math.round(p * count);
    const across = count === 100 ? 20 : 50, step = 500 / across, down = count / across;
    if (parts.dots.childElementCount !== count) {
      parts.dots.setAttribute("viewBox", `0 0 500 ${down * step}`);
      parts.dots.replaceChildren(...Array.from({length: count}, (_, i) => drawIn("circle", {
        cx: (i % across + 0.5) * step, cy: (Math.floor(i / across) + 0.5) * step, r: step * 0.36})));
    }
    [...parts.dots.children].forEach((dot, i) => { if (dot.classList.contains("on") !== i < on) dot.classList.toggle("on"); });
    const least = Math.floor(p * count), n = whole(count), near = Math.abs(p * count - on) <= 0.05 * p * count;
    const k = near ? whole(on) : say("between_two", {low: whole(least), high: whole(least + 1)});
    const text = rough ? say("people_most", {k: whole(on), n}) : p > 0 && p * count < 1 ? say("people_few", {n}) : say(held.people ? "people_mean" : "people_of", {k, n});
    parts.dots.classList.toggle("rough", Boolean(rough));
    parts.dots.setAttribute("aria-label", text);
    parts.dotsSaid.textContent = text;
  }

  // -- predict first ----------------------------------------------------------------------------------------

  function hide(wanted) {
    hiding = wanted;
    parts.kept.textContent = "";
    document.body.classList.toggle("hiding", wanted);
  }

  function predict() {
    hide(true);
    guesses = [];
    revealed = null;
    const field = make("input", {type: "text", inputmode: "decimal", "aria-label": words.guess, placeholder: words.guess_like});
    const line = make("div", {class: "guesses"}), count = make("span", {class: "note", role: "status"}), ask = make("span", {class: "row"});
    const place = (mark, p) => { mark.style.left = onBar(p); line.append(mark); };
    const take = share => {
      guesses.push(share);
      place(make("i", {title: percent(share)}), share);
      count.textContent = say("guesses_so_far", {n: guesses.length, last: percent(share)});
      field.value = "";
      ask.replaceChildren();
      field.focus();
    };
    // 20 is 20 %; 0.2 may be 20 % or 0.2 %: that is asked.
    const add = () => {
      const got = written(field.value), share = got && (got.share ? got.value : got.value / 100);
      ask.replaceChildren();
      if (field.value.trim() === "") return;
      if (got === null || !(share >= 0 && share <= 1)) count.textContent = say("guess_none", {text: field.value});
      else if (!got.share && got.value > 0 && got.value < 1) {
        count.textContent = say("guess_which", {text: field.value});
        ask.append(...[got.value, share].map(p => make("button", {type: "button", text: percent(p), onclick: () => take(p)})));
      } else take(share);
    };
    field.addEventListener("keydown", e => { if (e.key === "Enter") add(); });
    const asks = make("span", {class: "row"}, make("span", {text: words.guess}), field, make("button", {text: words.add, onclick: add}));
    const reveal = make("button", {text: words.reveal, onclick: () => {
      add(); // what stands in the field is a guess, too; one that is none is not dropped
      if (field.value.trim() !== "") {
        count.textContent += words.guess_open;
        (ask.firstElementChild ?? field).focus();
        return;
      }
      hide(false);
      const result = update(), then = stateKey();
      const sum = summedUp(result), rough = roughly(result, question());
      if (sum && rough !== "open") place(make("b"), rough ? highest(result) : result.p);
      revealed = () => { count.textContent = sum && sum + (stateKey() === then ? "" : words.guesses_then); };
      revealed();
      asks.remove();
      reveal.remove();
      line.hidden = scale.hidden = !guesses.length;
      parts.predict.focus();
    }});
    const scale = make("div", {class: "scale", "aria-hidden": "true"}, ...ticks());
    asks.hidden = line.hidden = scale.hidden = Boolean(question().scale); // a mean is no chance: there is nothing to guess in percent
    parts.guess.replaceChildren(make("div", {class: "row"}, asks, reveal, ask, count), line, scale);
    parts.guess.hidden = false;
    update();
    (asks.hidden ? reveal : field).focus();
  }

  // What was guessed, and what it is.
  function summedUp(result) {
    if (result.refused || Number.isNaN(result.p)) return "";
    const sorted = [...guesses].sort((a, b) => a - b), n = sorted.length, p = numberOf(result);
    const [low, high] = [sorted[Math.floor((n - 1) / 2)], sorted[Math.ceil((n - 1) / 2)]];
    return n === 0 ? say("guesses_none", {p}) : n === 1 ? say("guesses_one", {middle: percent(low), p})
      : low === high ? say("guesses", {n, middle: percent(low), p}) : say("guesses_between", {n, low: percent(low), high: percent(high), p});
  }

  const stateKey = () => JSON.stringify([now.question, now.set, now.see, now.do]);

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
      make("span", {class: "name", text: label, title: label}), make("span", {class: "bar"}, bar, ghost), p);
    bar.classList.add("secret"); ghost.classList.add("secret"); p.classList.add("secret");
    return {node, state, label, bar, ghost, p, button};
  }

  function turnTo(name) {
    mode = name;
    [...parts.modes.children].forEach(b => b.setAttribute("aria-pressed", String(b.classList.contains(mode))));
    showHelp();
  }

  // What a click means, and that what was clicked under the other meaning stays.
  function showHelp() {
    const other = Object.keys(mode === "see" ? now.do : now.see);
    put(parts.modesHelp, words[`${mode}_help`] + (other.length ? say(`${mode}_stays`, {names: listed(other)}) : ""));
  }

  function buildGraph() {
    parts.modes = make("div", {class: "modes", role: "group", "aria-label": words.mode});
    parts.modesHelp = make("span", {class: "modes-help"});
    for (const name of ["see", "do"]) {
      parts.modes.append(make("button", {class: name, type: "button", text: words[name], onclick: () => turnTo(name)}));
    }
    turnTo(mode);
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
      make("div", {class: "bench"}, parts.modes, parts.modesHelp, parts.clear), parts.space,
      make("p", {class: "instead", text: say("graph_too_large", {n: drawn.cards.length})}));
    fit();
    let printing = false; // a sheet that is laid out is no window that changes
    window.addEventListener("resize", () => { if (!printing) fit(); });
    window.addEventListener("beforeprint", () => { printing = true; finish(); fit("print"); });
    window.addEventListener("afterprint", () => { printing = false; fit(); });
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

  // What a sheet of paper leaves to the picture: the rules of print hold for a moment, and all is measured.
  // Where that is too little all is printed smaller.
  function leftOnPaper() {
    let found = [0, 0];
    for (const zoom of ZOOMS) {
      document.documentElement.style.setProperty("--print", zoom);
      found = leftAt(zoom);
      if (found[1] >= Math.min(1, DRAWN, found[0] / drawn.width) * drawn.height) break;
    }
    return found;
  }

  function leftAt(zoom) {
    const rule = [...document.styleSheets].flatMap(s => [...s.cssRules]).find(r => r.media?.mediaText === "print"), own = document.body.style;
    rule.media.mediaText = "all";
    [own.width, own.zoom, parts.space.style.height] = [`${SHEET[0] / zoom}px`, "1", "0"];
    const taken = document.body.offsetHeight, mine = parts.space.getBoundingClientRect();
    const beside = $("graph").getBoundingClientRect().bottom - mine.bottom;
    rule.media.mediaText = "print";
    [own.width, own.zoom] = ["", ""];
    return [mine.width - 12, SHEET[1] / zoom - taken + beside - SPARE];
  }

  function fit(how) {
    parts.space.classList.remove("list");
    $("graph").classList.remove("too-large");
    const [room, sheet] = how === "print" ? leftOnPaper() : [parts.space.clientWidth - 18, 0];
    const scale = how === "print" ? Math.min(1, room / drawn.width, sheet / drawn.height) : Math.min(1, room / drawn.width);
    const long = drawn.cards.some(card => card.each.length > 8); // a sheet of paper does not scroll
    const list = how === "print" ? long : window.innerWidth < 700 || scale < 0.62;
    $("sliders").classList.toggle("sticks", $("sliders").offsetHeight < window.innerHeight - DOCKED);
    $("graph").classList.toggle("too-large", how === "print" && scale < 0.3);
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
    if (card.note) made.append(make("p", {text: card.note}));
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
    showHelp();
    for (const own of shownCards.values()) {
      const one = !own.card.members.length && !own.card.each.length;
      const names = one ? [own.card.name] : [...own.card.members, ...own.card.each.map(e => e[1])];
      const set = names.filter(n => done.has(n)), saw = names.filter(n => n in known);
      own.made.classList.toggle("done", set.length > 0);
      own.made.classList.toggle("seen", !set.length && saw.length > 0);
      own.mark.textContent = set.length ? words.set : saw.length ? words.seen : "";
      for (const [name, line] of own.uses) {
        const value = result.env ? result.env[name] : now.set[name];
        line.textContent = `${name} = ${chances.has(name) ? inPercent(value) : short(value)}${params.get(name)?.assumed ? ` (${words.assumed})` : ""}`;
      }
      for (const r of own.rows) {
        const at = (from, state) => (from && !from.refused && from.marginals[r.node] ? from.marginals[r.node][from.states[r.node].indexOf(state)] : NaN);
        const p = settled(at(result, r.state)), was = at(old, r.state);
        r.bar.style.width = Number.isNaN(p) ? "0" : `${100 * p}%`;
        r.p.textContent = Number.isNaN(p) ? "—" : chanceOf(result, r, p);
        r.ghost.hidden = Number.isNaN(was) || Math.abs(was - p) < 5e-4;
        r.ghost.style.left = `calc(${100 * was}% - 1px)`;
        const mine = known[r.node] ?? now.do[r.node];
        r.button.setAttribute("aria-pressed", String(one ? mine === r.state : mine !== undefined));
        r.button.setAttribute("aria-label", `${own.card.name === r.node ? "" : `${own.card.name}: `}${say("is", {node: r.node, state: r.state})}${hiding ? "" : `, ${r.p.textContent}`}`);
        if (!one) r.button.firstChild.textContent = mine === "no" ? `${r.label} (no)` : r.label;
      }
      if (own.many) showMany(own, result);
    }
    for (const arrow of parts.arrows) arrow.line.classList.toggle("cut", shownCards.get(arrow.to).made.classList.contains("done"));
  }

  // The chance in a box; of people no more of it than rounding leaves.
  function chanceOf({evidence}, {node, state}, p) {
    if (!held.people || p === 0 || p === 1) return brief(p);
    const own = held.people.error, most = evidence > own ? own / (evidence - own) : 1;
    if (p > most && 1 - p > most) return brief(p);
    const off = model.error(model.byFaces(now.set, {wanted: {[node]: state}, given: {}, by: {}}, seen(), now.do));
    if (off < 1e-9) return brief(p);
    if (p > off && 1 - p > off) return brief(p);
    if (p <= off && 1 - p <= off) return "?";
    const text = percent(p <= off ? atMost(Math.min(1, p + off)) : 1 - atMost(Math.min(1, 1 - p + off)));
    return text.startsWith(">") ? text : `${p <= off ? "\u2264" : "\u2265"}${text}`;
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
    box.append(make("h2", {id: "sliders-title", text: words.sliders}), make("p", {class: "help", text: [words.sliders_help, ...(held.decisions.length ? [words.marks_help] : [])].join(" ")}));
    parts.stuck = make("p", {class: "stuck", role: "status"});
    parts.stuck.hidden = true;
    const all = make("div", {class: "all"});
    box.append(all);
    for (const p of held.parameters) {
      if (p.frozen === "") continue;
      const id = `p-${p.name}`, unit = p.chance ? "" : p.unit;
      const name = make("label", {for: id, text: p.name});
      const made = make("div", {class: "slider"});
      if (p.assumed) name.append(make("span", {class: "chip", text: words.assumption}));
      const printed = make("span", {class: "printed"});
      const typed = make("input", {type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": say("value_of", {name: p.name}), onchange: e => typedIn(p, e.target.value)});
      const same = make("span", {class: "same"});
      made.append(make("div", {class: "top"}, name, make("span", {class: "typed"}, typed, printed, same, unit)));
      if (p.story) made.append(make("p", {class: "tells", text: p.story}));
      const own = {p, typed, printed, same, made, range: null, yours: make("p", {class: "yours"}), source: make("p", {class: "tells source"})};
      made.append(own.yours);
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
      made.append(own.source);
      if (p.frozen !== null) typed.id = id;
      all.append(made);
      shownSliders.set(p.name, own);
    }
    const still = held.parameters.filter(p => p.frozen === "").map(p => p.name);
    if (still.length) box.append(make("p", {class: "tells", text: say("no_range", {names: listed(still)})}));
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

  const quiet = () => { parts.stuck.hidden = true; };

  // What the page did not do as it was told, beside the slider; and perhaps what was meant.
  function stuck(p, text, meant = null) {
    parts.stuck.replaceChildren(text, ...(meant === null ? [] : [" ", make("button", {type: "button", text: inBoth(p, meant), onclick: () => moved(p, meant)})]));
    shownSliders.get(p.name).made.append(parts.stuck);
    parts.stuck.hidden = false;
  }

  const chances = new Set([...held.parameters, ...held.numbers].filter(n => n.chance).map(n => n.name));
  const inPercent = x => `${short(100 * x)}\u00a0%`;
  const inBoth = (p, x) => (p.chance && x > 0 && x < 1 ? `${short(x)} (${percent(x)})` : short(x));

  // A number that somebody typed is taken as it is, or not at all, and then it is said.
  function typedIn(p, text) {
    const got = written(text), x = got?.value, said = {name: p.name, text: text.trim(), now: short(now.set[p.name])};
    const fits = v => v >= p.low && v <= p.high;
    if (!said.text) return update();
    if (got && fits(x) && !(got.share && !p.chance) && !(p.whole && !Number.isInteger(x)) && !(p.stops && !p.stops.includes(x))) return moved(p, x);
    const tries = got === null || (got.share && !p.chance) ? [] : fits(x) ? [p.stops ? p.stops[toPlace(p, x)] : Math.round(x)] : [x / 100];
    const range = {low: short(p.low), high: short(p.high)};
    const why = got === null ? say("typed_none", said) : got.share && !p.chance ? say("typed_share", said) : !fits(x) ? say("typed_outside", {...said, ...range})
      : p.stops ? say("typed_stop", said) : say("typed_whole", said);
    const meant = tries.find(v => fits(v) && (p.chance || fits(x))) ?? null;
    stuck(p, `${why} ${say("typed_stays", said)}${meant === null ? "" : ` ${words.typed_meant}`}`, meant);
    return update();
  }

  function moved(p, wanted) {
    if (!Number.isFinite(wanted)) return update();
    let value = Math.min(p.high, Math.max(p.low, p.whole ? Math.round(wanted) : wanted));
    if (p.stops) value = p.stops[toPlace(p, value)];
    const [got, why] = near(p, value);
    now.set[p.name] = got;
    quiet();
    if (why) stuck(p, say("not_allowed", {why}));
    return update();
  }

  function showSliders() {
    for (const {p, typed, printed, same, range, yours, source} of shownSliders.values()) {
      const x = now.set[p.name], isOwn = x !== p.value, sourced = p.source !== "assumption";
      put(yours, isOwn ? say("yours", {now: short(x), was: short(p.value)}) : "");
      put(source, !sourced ? "" : isOwn ? say("source_of", {was: short(p.value), source: p.source}) : p.source);
      printed.textContent = short(x);
      put(same, p.chance ? say("same", {p: inPercent(x)}) : "");
      typed.value = String(x);
      if (range) {
        range.value = toPlace(p, x);
        range.setAttribute("aria-valuetext", p.chance ? inPercent(x) : `${short(x)} ${p.unit}`);
      }
    }
    later();
  }

  // The state in the address: browsers take their time for it, so not while a slider moves.
  // A link that somebody has just put there is about to be opened: it is not written over.
  let address = location.hash;
  const remember = () => {
    if (location.hash !== address) return;
    try { history.replaceState(null, "", `#${marked()}`); } catch { /* a frame without an address */ }
    address = location.hash;
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

  // How often each option is what pays, of all that is ever seen before.
  function summary(choice, happens) {
    const k = choice.options.length, times = choice.options.map(() => 0), cases = choice.policy.length / k;
    for (let s = 0; s < cases; s++) {
      const row = [...choice.policy.slice(s * k, (s + 1) * k)];
      if (happens[s] > 0) times[row.indexOf(Math.max(...row))]++;
    }
    const ever = times.reduce((n, x) => n + x, 0);
    const told = cases === 1 ? say("takes", {option: choice.options[times.indexOf(1)]})
      : choice.options.map((option, i) => say("in_cases", {option, n: times[i], of: ever})).join(", ");
    return ever < cases ? `${told}${say("cannot_happen", {n: cases - ever})}` : told;
  }

  function showDecisions(result) {
    const box = $("decisions");
    if (!held.decisions.length) return;
    box.hidden = false;
    box.replaceChildren(make("h2", {id: "decisions-title", text: words.decisions}),
      make("p", {class: "help", text: say("decisions_help", {unit: held.utilities[0].unit})}));
    if (result.refused || hiding) return;
    for (const [name, choice] of Object.entries(result.policies)) {
      const k = choice.options.length, rows = [], saw = choice.family.slice(0, -1);
      const sizes = saw.map(n => result.states[n].length);
      for (let s = 0; s < choice.policy.length / k; s++) {
        if (!(result.happens[name][s] > 0)) continue;
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
      box.append(make("div", {class: "policy"}, make("h3", {text: `${name}: ${summary(choice, result.happens[name])}`}),
        few ? make("ul", {}, ...rows) : make("details", open.has(name) ? {open: ""} : {},
          make("summary", {text: say("all_cases", {n: rows.length}), onclick: () => { if (!open.delete(name)) open.add(name); }}),
          make("ul", {}, ...rows))));
    }
  }

  // -- what it stands on, and taking it along ---------------------------------------------------------------------

  const standing = [];

  function buildStands() {
    const plain = text => (text ?? "").replace(/\.$/, "");
    const inWhole = ({name, value}) => (chances.has(name) && /^[\d.,e-]+( \([\d.,e-]+ to [\d.,e-]+\))?$/.test(value) ? value.replace(/[\d.,e-]+(?= |\)|$)/g, x => inPercent(+x)) : value);
    const row = raw => {
      const entry = {...raw, value: inWhole(raw)};
      const value = make("td", {text: entry.value}), source = make("td", {text: entry.source, class: entry.assumed ? "assumed" : null});
      standing.push({entry, value, source});
      return make("tr", {}, make("td", {text: entry.name}), make("td", {text: plain(entry.what)}), value, source);
    };
    const columns = held.columns.map(c => make("tr", {}, make("td", {text: c.name}), make("td", {text: plain(c.story)}), make("td", {text: words.by_person}),
      make("td", {text: c.model ? say("from_model", {model: c.model}) : words.from_table, class: c.model ? "assumed" : null})));
    parts.counted = make("p", {class: "help"});
    $("stands").append(make("h2", {id: "stands-title", text: words.stands}), parts.counted,
      make("div", {class: "wide", tabindex: 0, role: "region", "aria-label": words.stands_table}, make("table", {},
        make("thead", {}, make("tr", {}, ...["name", "what", "value", "source"].map(w => make("th", {scope: "col", text: words[w]})))),
        make("tbody", {}, ...held.stands_on.map(row), ...columns))),
      glossary(),
      ...(held.sources.length ? [make("ul", {class: "sources"}, ...held.sources.map(text => make("li", {text})))] : []),
      make("p", {class: "help limits", text: words.limits}));
  }

  // Words of this page that nobody has to know, with what they mean.
  function glossary() {
    const text = JSON.stringify([held, drawn]).toLowerCase(), found = Object.entries(words.glossary).filter(([word]) => (held.people || word !== "ledger") && text.split(word).length > 2);
    return make("details", {class: "glossary"}, make("summary", {text: words.glossary_title}),
      make("dl", {}, ...found.flatMap(([word, means]) => [make("dt", {text: word}), make("dd", {text: means})])));
  }

  const envStart = kept(() => { try { return model.env(model.start()); } catch { return {}; } });

  // A number that somebody moved is theirs: its source stands for the one it was.
  function showStands(env) {
    let assumed = 0, all = held.columns.length;
    for (const {entry, value, source} of standing) {
      const p = params.get(entry.name), was = p ? p.value : envStart(fresh())[entry.name], x = p ? now.set[p.name] : env?.[entry.name];
      const isOwn = was !== undefined && x !== undefined && x !== was;
      put(value, isOwn ? say(p ? "yours" : "follows", {now: chances.has(entry.name) ? inPercent(x) : short(x), was: entry.value}) : entry.value);
      put(source, isOwn && p ? say("source_of", {was: short(was), source: entry.source}) : entry.source);
      source.classList.toggle("assumed", Boolean(entry.assumed || (isOwn && p)));
      all += entry.times ?? 1;
      assumed += source.classList.contains("assumed") ? entry.times ?? 1 : 0;
    }
    put(parts.counted, say("stands_count", {n: assumed, of: all}) + (held.columns.some(c => c.model) ? words.stands_model : ""));
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
    const asked = q.asked.replace(/\s+/g, " ");
    if (q.name) lines.push(`# ${q.name}: ${asked}`);
    if (!held.people) lines.push(`# ${say("yaml_ask", {model: held.name, question: q.name && !model.nodes.has(q.name) ? q.name : `"${asked.replaceAll(" and ", ",")}"`})}`);
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
    if (held.people && level !== START_LEVEL) pairs.push(["above", level]);
    if (hiding || held.asked.predict) pairs.push(["predict", hiding ? "yes" : "no"]);
    return pairs.map(pair => pair.map(encodeURIComponent).join("=")).join("&");
  }

  // The same with the page that it is of: names of another page may be here, too, and mean something else.
  const marked = () => (link() ? `page=${held.mark}&${link()}` : "");
  const elsewhere = text => { const print = /(?:^|[#&])page=([^&]*)/.exec(text)?.[1]; return print === held.mark ? undefined : print; };

  const ofAnother = (title, print) => say(title ? "line_other" : "line_elsewhere", {title, print, own: held.title, mine: held.mark});

  // A part of a link, taken as it is into a state; whether the page can.
  function taken(state, name, value) {
    const [kind, ...rest] = name.split("."), key = rest.join("."), x = value.trim() === "" ? NaN : Number(value), p = params.get(key);
    if (kind === "set" && p && p.frozen === null && Number.isFinite(x) && x >= p.low && x <= p.high && (!p.stops || p.stops.includes(x)) && (!p.whole || Number.isInteger(x))) state.set[key] = x;
    else if ((kind === "see" || kind === "do") && model.nodes.has(key) && !model.nodes.get(key).helper && !hides(key) && !(kind === "do" && locked.has(key))) state[kind][key] = value;
    else if (name === "q" && held.questions.some(q => q.name === value)) state.question = held.questions.findIndex(q => q.name === value);
    else if (name === "above" && held.people && x >= 0 && x <= 1) level = x;
    else return name === "page" || (name === "predict" && (value === "yes" || value === "no"));
    return true;
  }

  // What a link says; what the page cannot take is left out, and said.
  function follow(text) {
    const state = fresh(), left = [], other = elsewhere(text);
    level = START_LEVEL;
    if (other !== undefined) {
      parts.left.textContent = ofAnother("", other);
      return state;
    }
    for (const pair of text.replace(/^#/, "").split("&").filter(Boolean)) {
      let name = pair, value = "";
      try { [name, value] = [pair.split("=")[0], pair.split("=").slice(1).join("=")].map(decodeURIComponent); } catch { /* said as it stands */ }
      if (!taken(state, name, value)) left.push(value ? `${name} = ${value}` : name);
    }
    if (allowed(state.set)) {
      left.push(allowed(state.set));
      state.set = model.start();
    }
    for (const kind of ["see", "do"]) {
      for (const [n, s] of Object.entries(state[kind])) {
        if (model.states(n, model.env(state.set)).includes(s)) continue;
        delete state[kind][n];
        left.push(`${kind}.${n} = ${s}`);
      }
    }
    parts.left.textContent = left.length ? say("link_left", {names: left.join("; ")}) : "";
    return state;
  }

  // What a link asks for; one that does not say whether the answer is hidden leaves it to the page.
  function opened(text) {
    now = follow(text);
    revealed = null;
    const said = elsewhere(text) === undefined && /[#&]predict=(yes|no)(&|$)/.exec(text)?.[1];
    present(said ? said === "yes" : held.asked.predict);
  }

  function buildOwn() {
    parts.yaml = make("textarea", {readonly: "", spellcheck: "false", "aria-label": words.yaml});
    const copied = make("span", {class: "note", role: "status"});
    const copy = async text => {
      try { await navigator.clipboard.writeText(text); } catch {
        const all = make("textarea", {text});
        document.body.append(all);
        all.select();
        document.execCommand?.("copy");
        all.remove();
      }
      copied.textContent = words.copied;
      setTimeout(() => { copied.textContent = ""; }, 1500);
    };
    const whole = () => `${location.href.split("#")[0]}#${marked()}`;
    const line = () => (location.protocol === "file:" ? say("send", {title: held.title, print: held.mark, link: link()}) : whole());
    $("own").append(make("h2", {id: "own-title", text: words.own}), make("p", {class: "help", text: !held.people ? words.yaml_help : held.people.knows ? words.yaml_knows : words.yaml_people}), parts.yaml,
      make("div", {class: "row take"}, make("button", {text: words.copy, onclick: () => copy(parts.yaml.value)}),
        make("button", {text: words.link, onclick: () => copy(line())}),
        make("button", {text: words.address, onclick: () => copy(whole())}),
        make("button", {text: words.print, onclick: () => window.print()}), copied));
    const pasted = make("input", {type: "text", id: "pasted", autocomplete: "off"});
    const take = () => {
      const at = pasted.value.lastIndexOf("#"), [, title, of] = /“(.*)” \((.*?)\)/.exec(pasted.value.slice(0, Math.max(at, 0))) ?? [];
      const print = (of === held.mark ? "" : of) || elsewhere(pasted.value.slice(at).trim());
      const wrong = at < 0 ? words.line_none : print ? ofAnother(title, print) : "";
      if (!wrong) opened(pasted.value.slice(at).trim());
      if (!wrong) pasted.value = "";
      copied.textContent = wrong || parts.left.textContent || words.opened;
    };
    pasted.addEventListener("keydown", e => { if (e.key === "Enter") take(); });
    $("own").append(make("div", {class: "row take"}, make("label", {for: "pasted", text: words.paste}), pasted, make("button", {text: words.open, onclick: take})));
    $("made").textContent = say("made", {name: held.name, print: held.print});
    $("sealed").textContent = ofTheHouse ? words.sealed_own : held.people ? words.sealed_people : words.sealed;
  }

  // -- people ---------------------------------------------------------------------------------------------------------

  const counted = held.people ? held.people.cells.reduce((n, c) => n + (c.low + c.high) / 2, (held.people.rest[0] + held.people.rest[1]) / 2) : 0;
  const ofTheHouse = Boolean(held.people && held.people.custodian);
  const about = () => whole(ofTheHouse ? counted : Math.round(counted / 10) * 10);
  const inside = new Set(held.people ? held.people.inside : []), faces = new Set(held.people ? held.people.faces : []);
  const hides = name => inside.has(name) && !faces.has(name);
  const locked = new Set(held.people ? held.people.locked : []);
  const LEVELS = 120, TENTH = 0.1;
  let level = START_LEVEL;

  function buildPeople() {
    if (!held.people) return;
    const p = held.people;
    parts.chart = drawIn("svg", {class: "chart secret", viewBox: "0 0 720 264", role: "img"});
    parts.level = make("input", {id: "level", type: "range", min: 0, max: 1, step: "any", oninput: e => setLevel(+(e.target.value ** 2).toPrecision(3))});
    parts.levelSaid = make("p", {class: "sentence secret"});
    $("people").hidden = false;
    $("people").append(make("h2", {id: "people-title", text: say("people", {people: about()})}),
      make("p", {class: "help", text: say(ofTheHouse ? "people_of_table_own" : "people_of_table", {people: about(), known: listed(p.known.map(named))}) + " " + p.looked_at}),
      make("p", {class: "help on-screen", text: say(ofTheHouse ? "people_help_own" : "people_help", {cells: p.cells.length, least: p.least, error: points(p.error)})}),
      parts.chart, make("div", {class: "row"}, make("label", {for: "level", text: words.threshold}), parts.level,
        ...[0.05, 0.09, 0.33].map(x => make("button", {text: String(x), onclick: () => setLevel(x)}))),
      parts.levelSaid, parts.rule = make("p", {class: "note secret"}), make("p", {class: "note", text: p.rule}),
      ...p.notes.map(text => make("p", {class: "note assumed", text: say("note", {text: ended(text)})})));
  }

  // An attribute, and the columns of the table that hold it where they are called otherwise.
  const named = ([label, columns]) => (columns.join(" + ") === label ? label : say("in_columns", {label, columns: listed(columns)}));

  function setLevel(x) {
    level = x;
    showPeople();
    later();
  }

  const isWide = share => share.high - share.low > WIDE;

  // Shares of people above thresholds, [threshold, {low, high, share}]; that above the chosen one; and of
  // how many what is seen can be so, where that differs by person.
  function above(state) {
    try {
      const cells = model.byFaces(state.set, held.questions[state.question], state.see, state.do);
      const shares = Array.from({length: LEVELS + 1}, (_, i) => (i / LEVELS) ** 2).map(t => [t, model.sharesAbove(cells, t)]);
      return {shares, mine: model.sharesAbove(cells, level), can: model.parts(cells) ? model.sharesAbove({joint: cells.evidence, evidence: cells.evidence}, 0) : null};
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return null;
    }
  }

  function showPeople() {
    if (!held.people) return;
    const found = question().scale ? null : above(now), old = {...(before ?? fresh()), question: now.question};
    const was = JSON.stringify([old.set, old.see, old.do]) === JSON.stringify([now.set, now.see, now.do]) ? null : aboveBefore(old);
    parts.chart.replaceChildren();
    parts.level.value = Math.sqrt(level);
    parts.levelSaid.textContent = parts.rule.textContent = "";
    if (!found) return;
    const {shares, mine, can} = found, points = [...shares, [level, mine]].sort((a, b) => a[0] - b[0]), x = t => 46 + 660 * Math.sqrt(t), y = share => 214 - 200 * share;
    const line = (list, key) => list.map(([t, s]) => `${x(t).toFixed(1)} ${y(s[key]).toFixed(1)}`).join("L");
    // Where the band says nearly nothing, what lies in its middle says nothing.
    const middle = list => list.map(([t, s], i) => (isWide(s) ? "" : `${i && !isWide(list[i - 1][1]) ? "L" : "M"}${x(t).toFixed(1)} ${y(s.share).toFixed(1)}`)).join("");
    const label = (at, down, text, anchor = "middle") => make("text", {svg: 1, x: at, y: down, "text-anchor": anchor, text});
    for (const share of [0, 0.5, 1]) parts.chart.append(drawIn("path", {class: "axis", d: `M46 ${y(share)}H706`, opacity: share ? 0.25 : 1}), label(40, y(share) + 4, `${100 * share}\u00a0%`, "end"));
    for (const t of [0, 0.01, 0.05, 0.1, 0.2, 0.33, 0.5, 1]) parts.chart.append(label(x(t), 232, String(t)));
    parts.chart.append(label(376, 256, words.threshold_axis), label(48, 10, words.share_axis, "start"));
    parts.chart.append(drawIn("path", {class: "band", d: `M${line(points, "low")}L${line([...points].reverse(), "high")}z`}));
    if (was) parts.chart.append(drawIn("path", {class: "was", d: middle(was.shares)}));
    parts.chart.append(drawIn("path", {class: "edge", d: middle(points)}), drawIn("path", {class: "limit", d: `M${x(level)} 14V214`}),
      drawIn("path", {class: "limit one-ten", d: `M46 ${y(TENTH)}H706`}), label(702, y(TENTH) - 5, words.one_ten, "end"));
    const said = {level: short(level), low: percent(mine.low), high: percent(mine.high)};
    const text = say(isWide(mine) ? "above_open" : said.low === said.high ? "above_exact" : "above_said", said) + (was ? ` ${words.curve_before}` : "") + (can ? ` ${say("above_seen", {part: fromTo(percent(can.low), percent(can.high))})}` : "");
    parts.levelSaid.textContent = text;
    const answer = mine.high <= TENTH ? "kept" : mine.low > TENTH ? "broken" : "undecided";
    parts.rule.textContent = say(`rule_${answer}`, said);
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
    showStands(result.env);
    showPeople();
    revealed?.();
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
  window.addEventListener("hashchange", () => { address = location.hash; if (address.slice(1) !== marked()) opened(address); });
  opened(location.hash);
  fit();
  window.reidbn = {model, held, state: () => now, found: () => found(now), yaml, link};
})();
