// ---- words and numbers ----
const signed = text => String(text).replace('-', '−');
const raised = (order, letter = 'α') =>
  order === null ? '0' : order === 1 ? letter : `${letter}<sup>${signed(order)}</sup>`;
const shown = (value, digits = 5) => {
  if (value === 0) return '0';
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power >= 6 || power < -3) {
    const [mantissa, exponent] = value.toExponential(2).split('e');
    return `${signed(Number(mantissa))} × 10<sup>${signed(Number(exponent))}</sup>`;
  }
  const text =
    power >= digits - 1
      ? Math.round(value).toLocaleString('en').replace(/,/g, '\u202f')
      : String(Number(value.toPrecision(digits)));
  return signed(text);
};
const listed = v => (v.length === 1 ? shown(double(v[0])) : `(${v.map(entry => shown(double(entry), 4)).join(', ')})`);

// ---- the figure: both axes logarithmic, the limit to the right ----
const figure = (data, model, alphas) => {
  const LEFT = 43,
    RIGHT = 414,
    TOP = 10,
    BOTTOM = 226,
    LAST = alphas.length - 1;
  const tens = alphas.map(a => Math.log10(double(a)));
  const RANGE = { bias: [-7, 7], variance: [-3, 13], gradient: [-3, 13] };
  const kept = new Map();
  const curve = (s, tab) => {
    // log10 of the size at every α, null where it is exactly 0
    const by =
      tab === 'bias' ? [model.dualTerm(s), ...data.hangs_on.map(field => s[field])] : [s[data.tabs[tab].decided_by]];
    const name = [tab, s.on, s.errors, ...by].join();
    if (!kept.has(name))
      kept.set(
        name,
        alphas.map(a => {
          const v = model.size(s, tab, a);
          return v ? Math.log10(v) : null;
        }),
      );
    return kept.get(name);
  };
  const across = i => LEFT + ((RIGHT - LEFT) * (tens[0] - tens[i])) / (tens[0] - tens[LAST]);
  const up = (value, [low, high]) =>
    BOTTOM - ((BOTTOM - TOP) * (Math.min(Math.max(value, low - 0.4), high + 0.4) - low)) / (high - low);
  const line = (values, range) =>
    values
      .map((y, i) =>
        y === null
          ? ''
          : `${i && values[i - 1] !== null ? 'L' : 'M'}${across(i).toFixed(1)} ${up(y, range).toFixed(1)}`,
      )
      .join('');
  const power = text =>
    text.replace(
      /<sup>(.*?)<\/sup>/g,
      '<tspan dy="-.42em" font-size=".72em">$1</tspan><tspan dy=".3em">\u200b</tspan>',
    );
  const label = ({ y, text, tone }) =>
    `<text class="lab halo ${tone}" x="${RIGHT + 7}" y="${(y + 4).toFixed(1)}">${power(text)}</text>`;
  const apart = marks => {
    // labels that would overlap move down, and all up again at the foot
    marks.sort((a, b) => a.y - b.y);
    marks.forEach((mark, i) => {
      if (i) mark.y = Math.max(mark.y, marks[i - 1].y + 15);
    });
    const over = marks.length ? marks[marks.length - 1].y - BOTTOM : 0;
    if (over > 0) for (const mark of marks) mark.y -= over;
    return marks.map(label).join('');
  };
  const tick = (x, text) =>
    `<path class="axis" d="M${x} ${BOTTOM}v4"/>` +
    `<text class="tick" x="${x}" y="${BOTTOM + 17}" text-anchor="middle">${text}</text>`;
  const grid = ([low, high], step) => {
    let out = '';
    for (let e = Math.ceil(low); e <= high; e++) {
      if (e % step) continue;
      const y = up(e, [low, high]).toFixed(1);
      const words = power(`10<sup>${signed(e)}</sup>`);
      out += `<path class="axis" d="M${LEFT} ${y}H${RIGHT}"/>`;
      out += `<text class="tick" x="${LEFT - 6}" y="${Number(y) + 4}" text-anchor="end">${words}</text>`;
    }
    return out;
  };
  const axes = (tab, letter) =>
    `<text class="tick" x="${LEFT - 36}" y="${TOP - 14}">${data.tabs[tab].axis}</text>` +
    `<text class="tick" x="${RIGHT}" y="${BOTTOM + 32}" text-anchor="end">${letter}, towards 0 →</text>`;
  const claimed = data_ => `claimed ${data_.claimed ? raised(data_.claimed, data_.letter) : '1'}`;
  // Curves end at the frame.
  const WIDE = RIGHT - LEFT,
    TALL = BOTTOM - TOP + 8;
  const framed = curves => {
    const box = `viewBox="${LEFT} ${TOP - 6} ${WIDE} ${TALL}"`;
    return `<svg class="framed" x="${LEFT}" y="${TOP - 6}" width="${WIDE}" height="${TALL}" ${box}>${curves}</svg>`;
  };
  const ofAlpha = s => {
    const { tab } = s,
      range = RANGE[tab],
      values = curve(s, tab),
      bad = model.fails(s, tab),
      marks = [];
    let out = grid(range, 2) + axes(tab, 'α'),
      curves = '';
    for (const text of ['0.4', '0.1', '0.01', '0.001']) {
      const i = data.alphas.indexOf(text);
      if (i >= 0) out += tick(across(i).toFixed(1), text);
    }
    const first = values.find(y => y !== null) ?? 0,
      claim = tens.map(ten => first + data.tabs[tab].claimed * (ten - tens[0]));
    if (bad) {
      const back = claim
        .map((_, k) => `L${across(LAST - k).toFixed(1)} ${up(claim[LAST - k], range).toFixed(1)}`)
        .join('');
      curves += `<path class="wedge" d="${line(values, range)}${back}Z"/>`;
    }
    for (const [side, words] of [
      ['as_written', 'as written'],
      ['repaired', 'repaired'],
    ]) {
      const other = { ...s, ...model.all(side) },
        ghost = curve(other, tab);
      if (ghost.every((y, i) => y === values[i])) continue;
      const its = tone(model.fails(other, tab));
      curves += `<path class="ghost" stroke="var(--${its})" d="${line(ghost, range)}"/>`;
      if (ghost[LAST] !== null) marks.push({ y: up(ghost[LAST], range), text: words, tone: `thin ${its}` });
    }
    out += framed(
      `${curves}<path class="claimed" d="${line(claim, range)}"/>` +
        `<path class="curve" stroke="var(--${tone(bad)})" d="${line(values, range)}"/>`,
    );
    marks.push({ y: up(claim[LAST], range), text: claimed(data.tabs[tab]), tone: 'thin quiet' });
    const here = values[s.at];
    if (values[LAST] !== null)
      marks.push({ y: up(values[LAST], range), text: raised(model.order(s, tab)), tone: tone(bad) });
    else
      out += `<text class="lab ${tone(bad)}" x="${LEFT + 10}" y="${BOTTOM - 8}">exactly 0 as soon as α is small</text>`;
    if (here !== null) {
      const x = across(s.at).toFixed(1),
        y = up(here, range).toFixed(1);
      out += `<path class="drop" d="M${x} ${y}V${BOTTOM}"/>` + dot(x, y, 6.5, bad);
    }
    return out + apart(marks);
  };
  const dot = (x, y, r, bad) => `<circle class="here" cx="${x}" cy="${y}" r="${r}" fill="var(--${tone(bad)})"/>`;
  const ofCost = (s, at) => {
    const known = Object.entries(data.costs),
      own = model.costOf(s),
      marks = [];
    const every = known.flatMap(([, one]) => one.points),
      ends = every.map(([e]) => Math.log(e)),
      most = Math.max(...ends),
      least = Math.min(...ends);
    const counts = every.map(([, n]) => Math.log10(n)),
      range = [Math.floor(Math.min(...counts)), Math.ceil(Math.max(...counts))];
    const x = e => LEFT + 20 + ((RIGHT - LEFT - 40) * (most - Math.log(e))) / (most - least || 1);
    let out = grid(range, 1) + axes('cost', 'ε');
    for (const [e] of own.points) out += tick(x(e).toFixed(1), String(Number(e.toPrecision(2))));
    const [e0, n0] = own.points[0],
      [e1] = own.points[own.points.length - 1];
    const promised = Math.log10(n0) + data.tabs.cost.claimed * Math.log10(e1 / e0);
    out += `<path class="claimed" d="M${x(e0)} ${up(Math.log10(n0), range)}L${x(e1)} ${up(promised, range)}"/>`;
    marks.push({ y: up(promised, range), text: claimed(data.tabs.cost), tone: 'thin quiet' });
    for (const [value, one] of known) {
      const its = tone(one.order < data.tabs.cost.claimed),
        mine = one === own;
      const places = one.points.map(([e, n]) => [x(e).toFixed(1), up(Math.log10(n), range).toFixed(1)]);
      const path = places.map(p => p.join(' ')).join('L');
      out += `<path class="${mine ? 'curve' : 'ghost'}" stroke="var(--${its})" d="M${path}"/>`;
      if (mine) out += places.map(([px, py], i) => dot(px, py, i === at ? 6.5 : 4, its === 'bad')).join('');
      marks.push({
        y: Number(places[places.length - 1][1]),
        text: mine ? costWords(one) : value,
        tone: `${mine ? '' : 'thin '}${its}`,
      });
    }
    return out + apart(marks);
  };
  const along = fraction_ =>
    Math.max(0, Math.min(LAST, Math.round(((fraction_ * 500 - LEFT) / (RIGHT - LEFT)) * LAST)));
  return { draw: (s, at) => (s.tab !== 'cost' ? ofAlpha(s) : model.costOf(s) ? ofCost(s, at) : ''), along };
};
