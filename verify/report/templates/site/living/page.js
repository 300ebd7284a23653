// ---- the page: what is chosen, what it comes to, and who is at fault ----
const living = () => {
  const at = id => document.getElementById(`living-${id}`);
  const all = query => [...document.querySelectorAll(query)];
  const data = JSON.parse(at('data').textContent),
    alphas = data.alphas.map(parsed);
  const model = algorithm(data),
    address = addresses(data, model),
    drawn = figure(data, model, alphas),
    run = runFigure(data, model, outerRuns(data, alphas));
  const told = verdicts(data, model, alphas, address);
  const { switches, tabs, places, marks } = data,
    FIELDS = Object.keys(switches),
    TABS = Object.keys(tabs);
  let s = address.start(),
    target = 0;
  const copy = of => ({ ...s, ...of });

  // -- everything, after any change --
  const paint = field => {
    const { tab } = switches[field],
      hurt = Object.keys(places)
        .map(on => model.alone(s, field, on))
        .filter(one => model.fails(one, tab));
    const unknown = model.order(model.alone(s, field), tab) === undefined,
      bad = hurt.length > 0,
      box = at(`box-${field}`);
    const worst = bad ? Math.min(...hurt.map(one => model.order(one, tab))) : null;
    const about = tab === 'cost' && bad && !model.costOf(s).derived ? 'about ' : '';
    box.className = `box ${unknown ? '' : tone(bad)}`;
    const { name, letter } = tabs[tab],
      size = bad ? `alone: ${name.charAt(0).toLowerCase()}${name.slice(1)} ${about}${raised(worst, letter)}` : 'sound';
    const sign = `<span class="${tone(bad)}">${marks[tone(bad)]}${size}</span>`;
    box.querySelector('.alone').innerHTML = unknown ? 'not in this run' : sign;
    const isRepair =
      switches[field].repairs.includes(s[field]) ||
      (s[field] === switches[field].repaired && s[field] !== switches[field].as_written);
    for (const each of all(`.living ins[data-for="${field}"]`)) each.hidden = !isRepair;
    for (const mark of all(`.living mark[data-for="${field}"]`)) {
      mark.className = unknown ? '' : tone(bad);
      mark.classList.toggle('struck', isRepair && 'replaced' in mark.dataset);
    }
    for (const input of document.getElementsByName(field)) {
      input.checked = input.value === s[field];
      if (field === 'dual_term') input.disabled = !(`${input.value},exact` in places[s.on].states);
    }
  };
  const tile = tab => {
    const on = model.fails(s, tab) ? undefined : model.elsewhere(s, tab),
      chosen = tab === s.tab;
    const there = on && raised(model.order(copy({ on }), tab), tabs[tab].letter);
    const below = on ? `<span class="bad">elsewhere ${there}</span>` : `claimed ${tabs[tab].words}`;
    const role = `role="tab" aria-selected="${chosen}" aria-controls="living-panel" tabindex="${chosen ? 0 : -1}"`;
    const inside = `${tabs[tab].name}<span class="n">${told.standing(s, tab)}</span><small>${below}</small>`;
    return `<button type="button" id="living-tab-${tab}" data-tab="${tab}" ${role}>${inside}</button>`;
  };
  const render = () => {
    if (!(`${s.dual_term},exact` in places[s.on].states)) s.dual_term = model.dualTerm(s);
    const { tab } = s,
      isCost = tab === 'cost',
      last = model.costOf(s)?.points.length ?? 1;
    target = Math.min(target, last - 1);
    FIELDS.forEach(paint);
    at('tabs').innerHTML = TABS.map(tile).join('');
    at('panel').setAttribute('aria-labelledby', `living-tab-${tab}`);
    const said = told.sentence(s);
    if (at('said').innerHTML !== said) at('said').innerHTML = said;
    at('plot').innerHTML = drawn.draw(s, target);
    at('plot').setAttribute('aria-label', at('said').textContent);
    const slider = at('alpha');
    slider.max = isCost ? last - 1 : alphas.length - 1;
    slider.value = isCost ? target : s.at;
    slider.setAttribute('aria-label', isCost ? 'ε' : 'α');
    slider.setAttribute(
      'aria-valuetext',
      isCost
        ? `ε = ${model.costOf(s)?.points[target][0].toPrecision(2)}`
        : `α = ${data.alphas[s.at]}: ${Number(model.size(s, tab, alphas[s.at]).toPrecision(3))}`,
    );
    const ran = run(s);
    at('run').innerHTML = ran.drawing;
    if (at('run-said').innerHTML !== ran.said) at('run-said').innerHTML = ran.said;
    at('run').setAttribute('aria-label', `x by step. ${at('run-said').textContent}`);
    at('places').hidden = isCost;
    at('spent').hidden = tab !== 'bias';
    at('call').hidden = tab !== 'bias';
    at('errors').checked = s.errors;
    for (const input of document.getElementsByName('on')) input.checked = input.value === s.on;
    for (const each of all('.living [data-purpose]')) each.hidden = each.dataset.purpose !== s.on || isCost;
    for (const [name, text] of Object.entries(told.numbers(s, target))) at(name).innerHTML = text;
    at('command').textContent = tab === 'bias' ? model.command(s, s.at) : '';
    const counted = told.counted(s, target);
    for (const each of all('.living [data-counted]')) {
      each.textContent = counted[each.dataset.counted];
      each.hidden = !each.textContent;
    }
    if (counted.steps) at('outer').open = true;
    const faults = model.faults(s, tab),
      why = faults.includes(s.last)
        ? s.last
        : faults[0] || (switches[s.last].tab === tab ? s.last : FIELDS.find(f => switches[f].tab === tab));
    for (const each of all('.living .why')) each.hidden = each.dataset.why !== why;
    for (const each of all('.living [data-fix]')) {
      each.textContent =
        s[each.dataset.fix] === switches[each.dataset.fix].repaired ? 'Read it as written' : 'Repair this phrase';
    }
    const claim = `<span class="quiet">claimed ${tabs[tab].words}</span>`;
    at('bar').innerHTML = `<b>${tabs[tab].name} ${told.standing(s, tab)}</b> ${claim}`;
    for (const button of all('.living [data-preset]')) {
      const name = button.dataset.preset,
        wanted = preset(name);
      button.setAttribute(
        'aria-pressed',
        FIELDS.every(field => s[field] === wanted[field]),
      );
    }
    for (const each of all('.orders tr[data-state]'))
      each.classList.toggle('here', s.errors && each.dataset.state === data.hangs_on.map(f => s[f]).join());
    history.replaceState(null, '', address.write(s));
  };
  const program = Object.keys(data.program);
  const preset = name => {
    if (name === 'as-written') return model.all('as_written');
    const changed = name === 'program' ? data.program : name in switches ? { [name]: switches[name].as_written } : {};
    return { ...model.all('repaired'), ...changed };
  };
  const choose = name => {
    const single = name in switches ? name : name === 'program' ? program[0] : '';
    s = copy({
      ...preset(name),
      errors: true,
      tab: single ? switches[single].tab : name === 'as-written' ? 'bias' : s.tab,
      last: single || s.last,
    });
    // A phrase by itself is shown on the first instance, or where it hurts.
    if (name !== 'repaired') s.on = Object.keys(places)[0];
    if (single && !model.fails(s, s.tab)) s.on = model.elsewhere(s, s.tab) || s.on;
    render();
  };
  const set = field => value => {
    s = copy({ [field]: value, last: field, tab: switches[field].tab });
    render();
  };

  document.addEventListener('change', ({ target: input }) => {
    if (input.name in switches) set(input.name)(input.value);
    else if (input.name === 'on') {
      s.on = input.value;
      render();
    } else if (input === at('errors')) {
      s.errors = input.checked;
      render();
    }
  });
  at('alpha').addEventListener('input', event => {
    if (s.tab === 'cost') target = Number(event.target.value);
    else s.at = Number(event.target.value);
    render();
  });
  document.addEventListener('click', event => {
    const button = event.target.closest('.living button');
    if (!button) return;
    const { tab, preset: name, fix, to } = button.dataset;
    if (tab) {
      s.tab = tab;
      render();
      at(`tab-${tab}`).focus();
    } else if (name) choose(name);
    else if (fix) {
      set(fix)(s[fix] === switches[fix].repaired ? switches[fix].as_written : switches[fix].repaired);
    } else if (button === at('again')) {
      s.draw += 1;
      render();
    } else if (to) at(to).scrollIntoView();
    else if (button === at('share'))
      navigator.clipboard?.writeText(location.href).then(
        () => {
          button.textContent = 'Copied';
          setTimeout(() => {
            button.textContent = 'Copy this address';
          }, 1500);
        },
        () => {},
      );
  });
  at('tabs').addEventListener('keydown', event => {
    const here = TABS.indexOf(s.tab),
      next = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    s.tab = TABS[(next + TABS.length) % TABS.length];
    render();
    at(`tab-${s.tab}`).focus();
  });
  at('plot').addEventListener('pointerdown', event => {
    if (s.tab === 'cost') return;
    const move = ({ clientX }) => {
      const box = at('plot').getBoundingClientRect();
      s.at = drawn.along((clientX - box.left) / box.width);
      render();
    };
    const stop = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', stop);
    };
    move(event);
    addEventListener('pointermove', move);
    addEventListener('pointerup', stop);
  });
  const open = () => {
    const found = address.read(location.hash);
    if (found) {
      s = found;
      render();
    }
    return found;
  };
  addEventListener('hashchange', () => {
    if (open() && document.activeElement?.closest?.('.orders, .others, .held')) at('live').scrollIntoView();
  });
  // Without the script an address leads to its row of a table; with it, to the page as it says.
  for (const row of all('.orders [id], .others [id]')) row.removeAttribute('id');
  for (const each of all('.living')) each.classList.add('alive');
  if (!open()) {
    const hash = location.hash;
    if (program.length) choose('program');
    else render();
    if (hash) history.replaceState(null, '', hash);
  }
  return { data, alphas, model, address };
};
if (typeof document !== 'undefined') globalThis.livingAlgorithm = living();
