'use strict';
// ---- fractions: [numerator, denominator] in BigInt, the denominator > 0, in lowest terms ----
const greatest = (a, b) => {
  a = a < 0n ? -a : a;
  while (b) [a, b] = [b, a % b];
  return a;
};
const fraction = (top, bottom = 1n) => {
  if (bottom < 0n) {
    top = -top;
    bottom = -bottom;
  }
  const common = greatest(top, bottom) || 1n;
  return [top / common, bottom / common];
};
const ZERO = fraction(0n);
const parsed = text => {
  const [top, bottom] = text.split('/');
  const [whole, digits = ''] = top.split('.');
  return fraction(BigInt(whole + digits), BigInt(bottom || 1) * 10n ** BigInt(digits.length));
};
const plus = (a, b) => fraction(a[0] * b[1] + b[0] * a[1], a[1] * b[1]);
const minus = (a, b) => plus(a, [-b[0], b[1]]);
const times = (a, b) => fraction(a[0] * b[0], a[1] * b[1]);
const spelled = ([top, bottom]) => (bottom === 1n ? String(top) : `${top}/${bottom}`);

// The double next to a fraction, but for one unit: 64 bits of the quotient, then a power of two.
const bits = n => n.toString(16).length * 4;
const double = ([top, bottom]) => {
  if (!top) return 0;
  const size = top < 0n ? -top : top,
    shift = 64 - bits(size) + bits(bottom);
  const quotient = shift >= 0 ? (size << BigInt(shift)) / bottom : size / (bottom << BigInt(-shift));
  const value = Number(quotient) * 2 ** -shift;
  return top < 0n ? -value : value;
};

// ---- rational functions: "n0 n1 …/d0 d1 …", integer coefficients by rising power, evaluated exactly ----
const coefficients = new Map();
const evaluated = (text, [p, q]) => {
  if (!coefficients.has(text))
    coefficients.set(
      text,
      text.split('/').map(side => side.split(' ').map(BigInt)),
    );
  const [top, bottom] = coefficients.get(text),
    length = Math.max(top.length, bottom.length);
  // Times q to the highest power: a sum of integers.
  const sum = side => side.reduce((total, c, k) => total + c * p ** BigInt(k) * q ** BigInt(length - 1 - k), 0n);
  return fraction(sum(top), sum(bottom));
};
const vector = (texts, at) => texts.map(text => evaluated(text, at));
const added = (u, v) => u.map((entry, i) => plus(entry, v[i]));
const squared = v => v.reduce((sum, entry) => plus(sum, times(entry, entry)), ZERO);
const norm = v => (v.length === 1 ? Math.abs(double(v[0])) : Math.sqrt(double(squared(v))));

// ---- Algorithm 1 under a choice of every switch: s = {on, errors, and a value for each switch} ----
const algorithm = data => {
  const { places, switches, tabs, costs } = data;
  const exactKey = s => `${dualTerm(s)},exact`;
  const value = (s, field) => (field === 'dual_term' ? dualTerm(s) : s[field]);
  const key = s => (s.errors ? data.hangs_on.map(field => value(s, field)).join() : exactKey(s));
  // At a kink y* and λ* have no derivative: what needs one is read as if they were held fixed.
  const dualTerm = s => (`${s.dual_term},exact` in places[s.on].states ? s.dual_term : data.without_maps);
  const state = s => places[s.on].states[key(s)];
  const stages = s => places[s.on].bundles[state(s).bundle];
  const estimate = (s, at) => {
    const kept = stages(s),
      dual = dualTerm(s);
    const parts = {
      f: vector(kept.f, at),
      g_difference: vector(kept.g_difference, at),
      dual: dual in kept.dual ? vector(kept.dual[dual], at) : kept.f.map(() => ZERO),
      penalty: vector(kept.penalty, at),
    };
    return { parts, total: Object.values(parts).reduce(added) };
  };
  // The distance as a vector: from the gradient, at a kink from the interval between the pieces' gradients.
  const off = (s, total) => {
    const { gradient, pieces } = places[s.on];
    if (!pieces.length) return total.map((entry, i) => minus(entry, parsed(gradient[i])));
    const below = minus(parsed(pieces[0]), total[0]),
      above = minus(total[0], parsed(pieces[pieces.length - 1]));
    return [below[0] > 0n ? below : above[0] > 0n ? above : ZERO];
  };
  const measured = (s, tab) => places[s.on].measured[tab][s[tabs[tab].decided_by]];
  const size = (s, tab, at) => {
    if (tab === 'bias') return norm(off(s, estimate(s, at).total));
    const value = double(evaluated(measured(s, tab).function, at));
    return tab === 'gradient' ? Math.sqrt(value) : value;
  };
  const costOf = s => costs[s[tabs.cost.decided_by]];
  // The power of α or ε, null where the size is 0 for all small α, undefined where nothing is known.
  const order = (s, tab) =>
    tab === 'bias' ? state(s).order : tab === 'cost' ? costOf(s)?.order : measured(s, tab).order;
  const fails = (s, tab) => {
    const o = order(s, tab);
    return o !== null && o !== undefined && o < tabs[tab].claimed;
  };
  const all = side => Object.fromEntries(Object.entries(switches).map(([field, one]) => [field, one[side]]));
  const alone = (s, field, on = s.on) => ({ ...s, ...all('repaired'), [field]: s[field], on });
  // Switches that break a claim by themselves, all others repaired; the worst first.
  const faults = (s, tab) =>
    Object.keys(switches)
      .filter(field => switches[field].tab === tab && fails(alone(s, field), tab))
      .sort((a, b) => order(alone(s, a), tab) - order(alone(s, b), tab));
  const elsewhere = (s, tab) =>
    tab === 'cost'
      ? undefined
      : Object.keys(places)
          .filter(on => on !== s.on && fails({ ...s, on }, tab))
          .sort((a, b) => order({ ...s, on: a }, tab) - order({ ...s, on: b }, tab))[0];
  // The call of the program that repeats a point, its stages given.
  const short = value => (spelled(value).length <= 24 ? spelled(value) : String(double(value)));
  const command = (s, i) => {
    const kept = stages(s),
      at = parsed(data.alphas[i]);
    const width = s.multiplier_width === 'shrinking' ? times(at, times(at, at)) : parsed(data.lam_width);
    const given = [
      ['y_star', kept.y_star],
      ['lam', kept.lam],
      ['y_penalty', kept.y],
    ].map(([name, texts]) => ` --given=${name}=${vector(texts, at).map(short).join(',')}`);
    return (
      `f2csa hypergradient atlas:${s.on} --alpha=${data.alphas[i]} --choose=dual_term=${dualTerm(s)}` +
      ` --choose=ramp_width=${s.ramp_width} --lam-width=${spelled(width)}${given.join('')}`
    );
  };
  return { command, dualTerm, state, stages, estimate, off, size, order, fails, all, alone, faults, elsewhere, costOf };
};

// ---- the address is a sentence: repaired&ramp_width=tau-delta&on=toy1&alpha=0.1 ----
const addresses = (data, model) => {
  const { switches, places, tabs, alphas } = data,
    fields = Object.keys(switches);
  const BASES = [
    ['as-written', 'as_written'],
    ['repaired', 'repaired'],
  ];
  // The claim that an address without see= opens: the one that its last choice decides.
  const implied = changed => (changed.length ? switches[changed[changed.length - 1]].tab : 'bias');
  const write = s => {
    const changed = side => fields.filter(field => s[field] !== switches[field][side]);
    const [name, side] = BASES.reduce((best, base) =>
      changed(base[1]).length < changed(best[1]).length ? base : best,
    );
    const parts = [name, ...changed(side).map(field => `${field}=${s[field]}`), `on=${s.on}`, `alpha=${alphas[s.at]}`];
    if (s.tab !== implied(changed(side))) parts.push(`see=${s.tab}`);
    if (!s.errors) parts.push('errors=none');
    if (s.draw !== 1) parts.push(`draw=${s.draw}`);
    return `#${parts.join('&')}`;
  };
  const nearest = text => {
    const wanted = Math.log(Number(text)),
      far = i => Math.abs(Math.log(alphas[i]) - wanted);
    return Number.isFinite(wanted) ? alphas.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0) : data.start;
  };
  const start = () => ({
    ...model.all('as_written'),
    on: Object.keys(places)[0],
    at: data.start,
    tab: 'bias',
    errors: true,
    draw: 1,
    last: fields[0],
  });
  // What an address says, or null where it says nothing of this page; unknown parts are left out.
  const read = text => {
    let plain = text.replace(/^#/, '');
    try {
      plain = decodeURIComponent(plain);
    } catch {
      /* a mangled address is read as it is */
    }
    const [name, ...parts] = plain.split('&'),
      base = BASES.find(one => one[0] === name);
    if (!base) return null;
    const s = { ...start(), ...model.all(base[1]) },
      changed = [];
    let see = '',
      placed = false;
    for (const part of parts) {
      const [field, value = ''] = part.split('=');
      if (Object.hasOwn(switches, field) && switches[field].values.includes(value)) {
        s[field] = value;
        changed.push(field);
      } else if (field === 'on' && Object.hasOwn(places, value)) [s.on, placed] = [value, true];
      else if (field === 'alpha') s.at = nearest(value);
      else if (field === 'errors') s.errors = value !== 'none';
      else if (field === 'draw') s.draw = /^[1-9]\d{0,5}$/.test(value) ? Number(value) : 1;
      else if (field === 'see' && Object.hasOwn(tabs, value)) see = value;
    }
    s.tab = see || implied(changed);
    // Without a place it is shown where it hurts.
    if (!placed && !model.fails(s, s.tab)) s.on = model.elsewhere(s, s.tab) || s.on;
    s.last = changed[changed.length - 1] || fields.find(one => switches[one].tab === s.tab);
    return s;
  };
  return { write, read, start };
};
