// How numbers are said, and read as people write them; report/words.py says the same ones.
const Numbers = words => {
  const say = (key, said = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => said[name] ?? "");
  const thousands = text => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const whole = n => thousands(String(Math.round(n)));

  // What only rounding keeps from certain or impossible is that.
  const settled = p => (p > 1 - 4e-15 ? 1 : Math.max(0, p));
  const LEAST = 1e-12; // less is said as less than that

  function short(x) {
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return thousands(String(x));
    const text = String(+x.toPrecision(5));
    const [left, right] = text.split(".");
    return text.includes("e") ? text : thousands(left) + (right ? `.${right}` : "");
  }

  function percent(x) {
    const p = settled(x);
    if (p === 0 || p === 1) return `${100 * p}\u00a0%`;
    if (p < 0.001) return `${(100 * p).toPrecision(2).replace(/e.*/, m => `·10^${+m.slice(1)}`)}\u00a0%`;
    if (p > 0.999) return ">99.9\u00a0%";
    return `${(100 * p).toFixed(p < 0.01 ? 2 : 1)}\u00a0%`;
  }

  // No less than a chance, and no more, in the digits that are shown of it.
  const digit = p => (p >= 0.01 ? 1e-3 : p >= 1e-3 ? 1e-4 : 10 ** (Math.floor(Math.log10(p || 1)) - 1));
  const atMost = p => Math.min(1, +(Math.ceil(p / digit(p) - 1e-9) * digit(p)).toPrecision(12));
  const atLeast = p => +(Math.floor(p / digit(p) + 1e-9) * digit(p)).toPrecision(12);

  const brief = p => (p > 0 && p < 0.001 ? "<0.1\u00a0%" : percent(p));

  // A difference of chances; "%" alone would leave open of what.
  function points(x) {
    const n = short(+(100 * atMost(x)).toPrecision(x < 0.1 ? 2 : 3));
    return say(n === "1" ? "point" : "points", {n});
  }

  // A number as people write it: 0.1 and 0,1 and .1 and 10 % and 1 in 10 and 1/10 and 1,000; null where it is none.
  function written(text) {
    const plain = text.replace(/\s/g, ""), share = plain.endsWith("%"), [, k, n] = /^(\d+)(?:in|\/)(\d+)$/i.exec(plain) ?? [];
    if (n) return +n ? {value: k / n, share: true} : null;
    let digits = share ? plain.slice(0, -1) : plain;
    if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(digits)) digits = digits.replaceAll(",", "");
    else digits = digits.replace(",", ".");
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits) ? {value: share ? +digits / 100 : +digits, share} : null;
  }

  // As one_in of report/words.py, rounded by the same sums.
  function oneIn(p) {
    if (!(p > 0)) return say("never");
    if (settled(p) === 1) return say("sure");
    if (p < LEAST) return say("less_than_one_in", {n: whole(1 / LEAST)});
    if (p < 0.5) {
      const n = 1 / p, unit = 10 ** (String(Math.floor(n)).length - 2);
      return say("one_in", {n: n < 10 ? String(Math.floor(n * 10 + 0.5) / 10) : whole(Math.floor(n / unit + 0.5) * unit)});
    }
    let best = 2;
    for (let n = 3; n <= 20; n++) if (Math.abs(Math.round(p * n) / n - p) < Math.abs(Math.round(p * best) / best - p)) best = n;
    return Math.round(p * best) < best ? say("k_in", {k: Math.round(p * best), n: best}) : percent(p);
  }

  function listed(parts) {
    return parts.length < 2 ? parts.join("") : parts.slice(0, -1).join(", ") + words.and + parts.at(-1);
  }

  // A sentence of the model's, which may be a question.
  const ended = text => (/[.?!…]$/.test(text) ? text : `${text}.`);

  return {say, listed, short, percent, oneIn, atMost, atLeast, settled, brief, points, whole, written, ended};
};
