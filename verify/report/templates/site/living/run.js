// ---- Algorithm 2 on a line: where it takes x, its answers being affine in x but for their noise ----
// Uniform numbers on [0, 1) from a seed (mulberry32, by T. Ettinger), so that one address is one run.
const uniforms = seed => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const outerRuns = ({ run, hangs_on }, alphas) => {
  const { start, view, schedule, N_g } = run,
    { D, eta, M, K, goldstein_radius: radius } = schedule,
    [c0, c1] = run.gradient.map(parsed).map(double);
  const answers = s => run.answers[run.states[s.errors ? hangs_on.map(field => s[field]).join() : `${s.dual_term},exact`]];
  // How far 0 is from the gradients of F within the radius; F has one everywhere in the picture.
  const fromStationary = x => Math.max(0, Math.abs(c0 + c1 * x) - Math.abs(c1) * radius);
  // A run as the lines say; it ends early where x leaves the picture, beyond which another row may bind.
  const of = s => {
    const at = text => double(evaluated(text, alphas[s.at])),
      [fixed, slope] = answers(s).map(at),
      spread = Math.sqrt(at(run.variances[s.noise_pairing]) / N_g),
      next = uniforms(s.draw);
    const steps = [],
      blocks = [];
    let x = start,
      delta = 0,
      block = 0;
    for (let t = 1; t <= K * M; t++) {
      const along = next(),
        z = x + along * delta; // lines 4 and 5
      x += delta;
      if (x < view[0] || x > view[1]) return { steps, blocks, left: t };
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      const g = fixed + slope * z + spread * normal; // line 6
      const moved = delta - eta * g;
      delta = moved * (D / Math.max(Math.abs(moved), D)); // line 7
      steps.push({ x, z, g, along });
      block += z / M;
      if (t % M === 0) {
        blocks.push(block);
        block = 0;
      }
    }
    return { steps, blocks, left: 0 };
  };
  // Where the distance is at most so large.
  const within = size => [-1, 1].map(side => -c0 / c1 + side * (radius + size / Math.abs(c1)));
  return { of, fromStationary, within };
};

// ---- its figure and its sentence ----
const runFigure = (data, model, runs) => {
  const { start, view, schedule } = data.run,
    T = schedule.K * schedule.M;
  const [LEFT, RIGHT, TOP, BOTTOM] = [43, 414, 8, 168];
  const across = t => (LEFT + ((RIGHT - LEFT) * t) / T).toFixed(1),
    up = x => Number((BOTTOM - ((BOTTOM - TOP) * (x - view[0])) / (view[1] - view[0])).toFixed(1));
  const path = run => `M${across(0)} ${up(start)}${run.steps.map(({ x }, i) => `L${across(i + 1)} ${up(x)}`).join('')}`;
  const repaired = s => ({ ...s, ...model.all('repaired') });
  const label = (y, text, tone_) => `<text class="lab halo thin ${tone_}" x="${RIGHT + 7}" y="${y + 4}">${text}</text>`;
  const end = run => (run.steps.length ? run.steps[run.steps.length - 1].x : start);
  const band = size => {
    const [low, high] = runs.within(size);
    return `<rect class="stationary" x="${LEFT}" y="${up(high)}" width="${RIGHT - LEFT}" height="${up(low) - up(high)}"/>`;
  };
  const draw = (run, other) => {
    const isSame = run.steps.every(({ x }, i) => x === other.steps[i]?.x);
    let out = [data.run.epsilon, 0].map(band).join('');
    for (let x = view[0]; x <= view[1]; x++)
      out += `<path class="axis" d="M${LEFT} ${up(x)}H${RIGHT}"/><text class="tick" x="${LEFT - 6}" y="${up(x) + 4}" text-anchor="end">${signed(x)}</text>`;
    for (const t of [0, T / 2, T])
      out += `<text class="tick" x="${across(t)}" y="${BOTTOM + 17}" text-anchor="middle">${t}</text>`;
    out += `<text class="tick" x="${LEFT - 36}" y="${TOP - 12}">x</text><text class="tick" x="${RIGHT}" y="${BOTTOM + 32}" text-anchor="end">step of Algorithm 2</text>`;
    const places = [[up(runs.within(data.run.epsilon)[0]) - 6, '(δ, ε)-stationary', 'quiet']];
    if (!isSame) {
      out += `<path class="ghost" stroke="var(--good)" d="${path(other)}"/>`;
      if (Math.abs(up(end(other)) - places[0][0]) > 14) places.push([up(end(other)), 'repaired', 'good']);
    }
    out += `<path class="curve" d="${path(run)}"/>`;
    if (run.left) out += `<text class="lab halo" x="${across(run.left)}" y="${up(end(run)) + (end(run) < start ? -6 : 14)}">leaves the picture</text>`;
    return out + places.map(one => label(...one)).join('');
  };
  // Over the second half: the first is the way in, which any small steps take about as long for.
  const mean = ({ blocks }) => {
    const some = blocks.slice(blocks.length / 2).map(runs.fromStationary);
    return some.reduce((sum, far) => sum + far, 0) / some.length;
  };
  const told = run =>
    run.left
      ? `x leaves the picture at step <b>${run.left}</b>`
      : `dist(0, ∂<sub>δ</sub>F) is <b>${shown(mean(run), 2)}</b> on average over the second half of its blocks`;
  // The figure and the sentence of one run, beside the repaired one.
  return s => {
    const run = runs.of(s),
      other = runs.of(repaired(s)),
      changed = Object.keys(data.switches).some(field => s[field] !== data.switches[field].repaired);
    const beside = changed ? ` Repaired, with the same draws: ${told(other)}.` : '';
    const said = `At <span class="nw">α = ${data.alphas[s.at]}</span> ${told(run)}.${beside}`;
    return { drawing: draw(run, other), said };
  };
};
