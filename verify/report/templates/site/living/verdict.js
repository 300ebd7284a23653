// ---- what a state comes to: the verdict in sentences, and the numbers behind it ----
const last = list => list[list.length - 1];
const tone = bad => (bad ? 'bad' : 'good');
const timesSquare = factor => (factor === '1' ? 'σ²' : `${signed(factor)} σ²`);
const costWords = one => `${one.derived ? '' : 'about '}${raised(one.order, 'ε')}`;

const verdicts = (data, model, alphas, address) => {
  const { switches, tabs, places, marks } = data;
  const now = s => `<span class="nw">α = ${data.alphas[s.at]}</span>`;
  const growth = o => {
    if (o > 0) return `, and that shrinks as ${raised(o)}`;
    return o < 0 ? `, and that <b>grows</b> as ${raised(o)}` : ', and <b>stays</b> that far off however small α';
  };
  // A better order can cost more over what was counted; where it begins to cost less no count says.
  const dearer = one => {
    const [e, n] = last(one.points);
    const cheaper = Object.values(data.costs).some(
      other => other.order < one.order && last(other.points)[0] === e && last(other.points)[1] < n,
    );
    return cheaper ? ` At the smallest ε counted, ${about(e)}, it still took more gradients than another way.` : '';
  };
  const told = {
    bias(s, bad, o, v) {
      const off = `off by <b>${shown(v)}</b> at ${now(s)}`;
      if (o !== null) {
        const claim = bad ? `, where ${tabs.bias.words} is claimed` : ', as claimed or better';
        return `the estimate is ${off}${growth(o)}${claim}.`;
      }
      const where = places[s.on].pieces.length ? ': it lies in ∂F' : '';
      return `the estimate is ${v ? `${off}, and ` : ''}right as soon as α is small${where}.`;
    },
    variance(s, bad, o, v) {
      const claim = `claimed is ${tabs.variance.words}, here of the order of σ² = ${data.noise.square}`;
      const how = bad ? `, and that <b>grows</b> as ${raised(o)}; ${claim}` : ', bounded as α → 0, as claimed';
      return `one sample has variance <b>${shown(v)}</b> at ${now(s)}${how}.`;
    },
    gradient(s, bad, o, v) {
      const how = `as ${raised(o)}: ${bad ? 'beyond' : 'within'} the ${tabs.gradient.words} claimed`;
      return `an error δ in λ̃ moves ∇L by <b>${shown(v)}</b> at ${now(s)}, ${how}.`;
    },
    cost(s) {
      const one = model.costOf(s);
      if (!one) return 'this run did not count it.';
      const how = one.derived
        ? ', the order of a repaired text that holds in this run'
        : `${one.settled ? '' : ', not settled'}, fitted to counts`;
      return `a run takes <b>${costWords(one)}</b>${how}; claimed is ${raised(tabs.cost.claimed, 'ε')}.${dearer(one)}`;
    },
  };
  const blamed = (s, field) => {
    const alone = model.alone(s, field),
      order = s.tab === 'bias' ? ` (${raised(model.order(alone, s.tab))})` : '';
    return `<a href="${address.write(alone)}">“${switches[field].title}”</a>${order}`;
  };
  const because = s => {
    const faults = model.faults(s, s.tab).map(field => blamed(s, field));
    return faults.length ? ` At fault${faults.length > 1 ? ', each alone enough' : ''}: ${faults.join(', ')}.` : '';
  };
  // What holds here may fail on another instance; where the text is repaired, theorems say more.
  const beyond = s => {
    const on = model.elsewhere(s, s.tab);
    if (on) {
      const there = { ...s, on },
        order = raised(model.order(there, s.tab));
      const link = `<a href="${address.write(there)}">on ${on}</a>`;
      return ` <b class="bad">Not everywhere:</b> ${link} the same words give ${order}.`;
    }
    const repaired = Object.values(switches).every(
      (one, k) => one.tab !== s.tab || s[Object.keys(switches)[k]] === one.repaired,
    );
    return repaired && tabs[s.tab].proof ? ` ${tabs[s.tab].proof}` : '';
  };
  const sentence = s => {
    const { tab } = s,
      o = model.order(s, tab),
      bad = model.fails(s, tab);
    if (o === undefined) return `<span class="big quiet">Not in this run</span>: ${told[tab](s)}`;
    const head = `<span class="big ${tone(bad)}">${marks[tone(bad)]}${bad ? 'Refuted' : 'Holds'}</span>`;
    const value = tab === 'cost' ? 0 : model.size(s, tab, alphas[s.at]);
    const exactly = tab === 'bias' && !s.errors ? 'solved exactly, ' : '';
    const where = tab === 'cost' ? ':' : ' here:',
      more = bad ? because(s) : beyond(s);
    return `${head}${where} ${exactly}${told[tab](s, bad, o, value)}${more}`;
  };

  // How a claim stands, in a mark and its order.
  const standing = (s, tab) => {
    const o = model.order(s, tab),
      bad = model.fails(s, tab);
    if (o === undefined) return '<span class="quiet">not run</span>';
    const size = tab === 'cost' ? costWords(model.costOf(s)) : raised(o, tabs[tab].letter);
    const heard = `<span class="unseen">${bad ? 'refuted: ' : 'holds: '}</span>`;
    return `<span class="${tone(bad)}">${marks[tone(bad)]}${heard}${size}</span>`;
  };

  // -- tables, as HTML --
  const cell = (what, value, more = '') => `<div class="${more}"><dt>${what}</dt><dd>${value}</dd></div>`;
  const row = (what, values, more = '') =>
    `<tr class="${more}"><th scope="row">${what}</th>${values.map(value => `<td>${value}</td>`).join('')}</tr>`;
  const table = (caption, rows) => `<caption class="unseen">${caption}</caption><tbody>${rows.join('')}</tbody>`;
  const sized = (s, words) => {
    const value = shown(model.size(s, s.tab, alphas[s.at]));
    return cell(`${words}, α = ${data.alphas[s.at]}`, value, `off ${tone(model.fails(s, s.tab))}`);
  };
  const numbers = {
    bias(s) {
      const { gradient, pieces } = places[s.on],
        at = alphas[s.at],
        { parts, total } = model.estimate(s, at);
      const away = model.off(s, total),
        bad = model.fails(s, 'bias');
      const isShort = away.length === 1 && away[0][1] !== 1n && spelled(away[0]).length < 24;
      const short = isShort ? ` <span class="small quiet nw">= ${spelled(away[0]).replace('-', '')}</span>` : '';
      // The part of line 6 that the repaired text changes most.
      const right = model.estimate({ ...s, ...model.all('repaired') }, at).parts;
      const far = name => norm(parts[name].map((entry, i) => minus(entry, right[name][i])));
      const hot = bad ? Object.keys(parts).reduce((best, name) => (far(name) > far(best) ? name : best)) : '';
      const rows = Object.entries(data.parts).map(([name, words]) =>
        row(words, [listed(parts[name])], name === hot ? 'hot' : ''),
      );
      const signs = model.state(s).signs.map(sign => (sign < 0 ? '−' : '+'));
      const truth = pieces.length ? cell('∂F', `[${pieces.join(', ')}]`) : cell('∇F', listed(gradient.map(parsed)));
      return {
        nums:
          cell(`estimate, α = ${data.alphas[s.at]}`, listed(total)) +
          truth +
          cell('off by', shown(norm(away)) + short, `off ${tone(bad)}`),
        parts: table('Line 6, part by part', [...rows, row('line 6', [listed(total)])]),
        signs: s.errors ? data.adversary[s.inner_stop].replace(/±/g, () => signs.shift()) : 'ỹ*, λ̃ and ỹ are exact',
      };
    },
    variance: s => ({
      nums: sized(s, 'variance') + cell(`noise ${places[s.on].noise}, σ²`, data.noise.square) + cell('one ∇<sub>x</sub>g at ỹ*', timesSquare(places[s.on].noise_of_one)),
    }),
    gradient(s) {
      const a = double(alphas[s.at]);
      const claimed = cell('α<sub>2</sub>δ', `α<sup>−1</sup> = ${shown(1 / a)}`);
      return { nums: sized(s, '∇L moves by') + claimed + cell('λ̃ − λ*', `δ = ${shown(a ** 3)}`) };
    },
    cost(s, target) {
      const one = model.costOf(s);
      if (!one) return {};
      const heads = ['ε', 'gradients', ...(one.steps.length ? ['outer steps', 'gradients a step'] : [])];
      const head = `<tr>${heads.map(words => `<th scope="col">${words}</th>`).join('')}</tr>`;
      const rows = one.points.map(([e, n], i) => {
        const values = one.steps.length ? [n, one.steps[i], n / one.steps[i]] : [n];
        return row(
          about(e),
          values.map(value => shown(value)),
          i === target ? 'picked' : '',
        );
      });
      rows.unshift(head);
      return { parts: table('Counted in this run', rows) };
    },
  };
  // What stands in Algorithm 2 at a target: how often its loop runs, and what one step takes.
  const counted = (s, target) => {
    const one = s.tab === 'cost' ? model.costOf(s) : undefined;
    if (!one?.steps.length) return { steps: '', each: '' };
    const [e, n] = one.points[target],
      steps = one.steps[target];
    return {
      steps: `${shown(steps)} times at ε = ${about(e)}`,
      each: `${shown(n / steps)} gradients at ε = ${about(e)}, lines 3, 5 and 6 of Algorithm 1 together`,
    };
  };
  return {
    sentence,
    counted,
    standing,
    numbers: (s, target) => ({ nums: '', parts: '', signs: '', ...numbers[s.tab](s, target) }),
  };
};
const about = value => String(Number(value.toPrecision(2)));
