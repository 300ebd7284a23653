// Optional: without it all rows show, and steps open and close by themselves.
(() => {
  'use strict';
  const one = (q, from = document) => from.querySelector(q), all = (q, from = document) => [...from.querySelectorAll(q)];

  const raised = '⁻⁰¹²³⁴⁵⁶⁷⁸⁹', plain = '−0123456789';
  const letters = {alpha: 'α', delta: 'δ', epsilon: 'ε', lambda: 'λ', sigma: 'σ'};
  const flat = s => s.toLowerCase().replace(/alpha|delta|epsilon|lambda|sigma/g, name => letters[name]).replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]/g, c => plain[raised.indexOf(c)]).replace(/-(?=\d)/g, '−').replace(/\^/g, '');
  const slash = field => addEventListener('keydown', event => {
    if (event.key === '/' && !event.ctrlKey && !event.metaKey && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });

  // ---- one search over all pages; its index is a script, which a page on a disk may load ----
  const find = one('form.find');
  if (find) {
    const field = find.elements.namedItem('all'), hits = one('.hits', find), told = one('output', find), list = one('ol', find), MOST = 40;
    let index = null;
    const loaded = new Promise(done => { find.load = () => {
      find.load = () => {};
      const script = document.createElement('script');
      script.onload = () => { index = (window.f2csaIndex || []).flatMap(([file, page, found]) => found.map(([at, title, ...parts]) => { const text = parts.map(part => typeof part === 'number' ? window.f2csaSaid[part] : part).join(' '); return {file, page, at, title, text, low: flat(text), head: flat(page + ' ' + title)}; })); done(); };
      script.onerror = () => { told.textContent = 'The index lies in the folder “pages”, which is not beside this file.'; hits.hidden = !field.value.trim(); };
      script.src = find.dataset.index;
      document.head.append(script);
    }; });
    const marked = (text, words) => {
      const low = flat(text), at = Math.max(0, Math.min(...words.map(w => low.indexOf(w)).filter(k => k >= 0), text.length));
      const from = Math.max(0, at - 60), said = document.createElement('small');
      said.append((from ? '… ' : '') + text.slice(from, at));
      const word = words.find(w => low.startsWith(w, at));
      if (low.length === text.length && word) said.append(Object.assign(document.createElement('mark'), {textContent: text.slice(at, at + word.length)}), text.slice(at + word.length, at + 120));
      else said.append(text.slice(at, at + 120));
      return said;
    };
    const seek = () => {
      const asked = flat(field.value.trim()), words = asked.split(/\s+/).filter(Boolean);
      list.replaceChildren();
      hits.hidden = !words.length;
      if (!words.length || !index) return;
      const worth = one => (one.head.includes(asked) ? 4 : 0) + (words.every(w => one.head.includes(w)) ? 2 : 0) + (one.low.includes(asked) ? 2 : 0) + (one.file === 'report.html' ? 1 : 0);
      const found = index.filter(one => words.every(w => one.low.includes(w) || one.head.includes(w))).map((one, k) => [worth(one), k, one]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
      for (const [, , one] of found.slice(0, MOST)) {
        const row = document.createElement('li'), link = document.createElement('a');
        link.href = find.dataset.up + one.file + (one.at ? '#' + encodeURIComponent(one.at).replace(/%2F/g, '/') : '');
        link.textContent = one.title && one.title !== one.page ? `${one.page} › ${one.title}` : one.page;
        const phrase = one.low.includes(asked) ? [asked] : words;
        row.append(link, marked(one.text, phrase));
        list.append(row);
      }
      told.textContent = found.length ? `${found.length} ${found.length === 1 ? 'passage' : 'passages'}${found.length > MOST ? `, the first ${MOST}` : ''}` : 'Nothing found on any page.';
    };
    find.hidden = false;
    field.addEventListener('focus', () => find.load());
    field.addEventListener('input', () => { find.load(); seek(); });
    loaded.then(seek);
    find.addEventListener('submit', event => { event.preventDefault(); const first = one('a', list); if (first) { first.click(); hits.hidden = true; } });
    find.addEventListener('keydown', event => {
      const links = all('a', list), here = links.indexOf(document.activeElement);
      if (event.key === 'Escape') { hits.hidden = true; field.focus(); field.value = ''; }
      if (event.key === 'ArrowDown' && links[here + 1]) { event.preventDefault(); links[here + 1].focus(); }
      if (event.key === 'ArrowUp' && here >= 0) { event.preventDefault(); (links[here - 1] || field).focus(); }
    });
    list.addEventListener('click', event => { if (event.target.closest('a')) hits.hidden = true; });
    addEventListener('click', event => { if (!find.contains(event.target)) hits.hidden = true; });
    if (!one('form.tools')) slash(field);
  }

  // ---- a matrix that can be searched and filtered ----
  const form = one('form.tools'), table = one('table.matrix');
  if (form && table) {
    const rows = all('tbody tr[id]', table), bodies = all('tbody', table), told = one('output', form), reset = one('button[type=reset]', form);
    const text = new Map(rows.map(row => [row, flat(row.textContent + ' ' + row.id)]));
    const field = name => form.elements.namedItem(name).value;
    const go = () => {
      const words = flat(field('search').trim()).split(/\s+/).filter(Boolean), reading = field('reading');
      let shown = 0;
      for (const row of rows) {
        const statuses = (reading ? [row.dataset[reading] || ''] : [row.dataset.written, row.dataset.repaired, row.dataset.alone]).join(' ').split(' ');
        const fits = words.every(w => text.get(row).includes(w))
          && (!field('verdict') || statuses.includes(field('verdict')))
          && (!field('evidence') || row.dataset.evidence.split(' ').includes(field('evidence')))
          && (!field('stage') || row.dataset.stage === field('stage'))
          && (reading !== 'alone' || Boolean(row.dataset.alone));
        row.hidden = !fits;
        shown += fits;
      }
      for (const body of bodies) body.hidden = !all('tr[id]', body).some(row => !row.hidden);
      told.textContent = shown === rows.length ? `${shown} claims and steps` : shown ? `${shown} of ${rows.length}` : 'Nothing matches. Show all, or search for less.';
      reset.hidden = shown === rows.length;
    };
    form.hidden = false;
    form.addEventListener('submit', event => event.preventDefault());
    form.addEventListener('input', go);
    form.addEventListener('reset', () => setTimeout(go));
    const jump = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target && (target.hidden || target.closest('[hidden]'))) { form.reset(); setTimeout(() => { go(); target.scrollIntoView(); }); }
    };
    addEventListener('hashchange', jump);
    slash(form.elements.namedItem('search'));
    go();
  }

  // ---- the passage of a line of the paper's source ----
  const asked = one('form.to-line'), passages = all('[data-lines]').map(each => [each, ...each.dataset.lines.split(' ').map(Number)]);
  if (asked && passages.length) {
    asked.hidden = false;
    asked.addEventListener('submit', event => { event.preventDefault(); find(); });
    asked.addEventListener('input', () => find());
    const find = () => {
      const line = Number(asked.elements.namedItem('line').value), told = one('output', asked);
      const there = passages.find(([, , last]) => line <= last);
      for (const [each] of passages) each.classList.remove('found');
      told.textContent = '';
      if (!line) return;
      if (!there) { told.textContent = 'The argument ends before this line.'; return; }
      there[0].classList.add('found');
      there[0].scrollIntoView({ block: 'center' });
      told.textContent = `Lines ${there[1]} to ${there[2]}`;
    };
  }

  // ---- what an address names is open ----
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    if (target.tagName === 'DETAILS' || target.closest('details')) target.scrollIntoView();
  };
  open();
  addEventListener('hashchange', open);
  addEventListener('beforeprint', () => { for (const each of all('details.step')) each.open = true; });

  // ---- a formula that is wider than its column: broken before its relations, then made smaller ----
  const RELATION = /^[=≤≥<>⇒⟹≈∈→≺≻≪≫∝:]$/, wide = math => math.scrollWidth > math.clientWidth + 1;
  const pieces = (row, cuts) => {
    const found = [[]];
    for (const each of [...row.children]) {
      if (found[found.length - 1].length && cuts(each)) found.push([]);
      found[found.length - 1].push(each);
    }
    return found;
  };
  const broken = (math, cuts) => {
    const row = math.children.length === 1 && math.firstElementChild.localName === 'mrow' ? math.firstElementChild : math;
    const found = pieces(row, cuts);
    if (found.length < 2) return [math];
    const line = document.createElement('div');
    line.className = 'math-lines';
    math.replaceWith(line);
    return found.map(part => {
      const made = math.cloneNode(false), inner = document.createElementNS(math.namespaceURI, 'mrow');
      inner.append(...part);
      made.append(inner);
      line.append(made);
      return made;
    });
  };
  const fit = math => {
    if (!math.clientWidth || !wide(math)) return;
    const first = broken(math, each => each.localName === 'mspace' || (each.localName === 'mo' && RELATION.test(each.textContent)));
    for (const part of first) for (const each of wide(part) ? broken(part, at => at.localName === 'mo' && /^[+−,-]$/.test(at.textContent)) : [part]) {
      for (let size = 1; wide(each) && size > 0.5; size *= 0.94) each.style.fontSize = `${size * 0.94}em`;
    }
  };
  const fitted = () => { for (const math of all('math[display=block]')) fit(math); };
  fitted();
  addEventListener('resize', fitted);
  document.addEventListener('toggle', fitted, true);

  // ---- the front page mailed alone: what leads into a folder that is not there is no link ----
  const away = all('a[href^="pages/"]');
  if (away.length) {
    const probe = Object.assign(document.createElement('link'), {rel: 'stylesheet', href: 'pages/style.css', media: 'not all'});
    probe.onload = () => probe.remove();
    probe.onerror = () => {
      probe.remove();
      for (const link of away) {
        const said = document.createElement('span');
        said.className = 'away';
        said.title = `in the folder “pages” of this report, which is not beside this file: ${link.getAttribute('href')}`;
        said.append(...link.childNodes);
        link.replaceWith(said);
      }
      const told = document.createElement('p');
      told.className = 'mailed wide small';
      told.textContent = `This page came without its folder “pages”: the ${away.length} passages underlined with dots lead there. Whoever sent it has it.`;
      one('nav.top').append(told);
      if (find) find.hidden = true;
    };
    document.head.append(probe);
  }

  // ---- a drawing to take away, with the colours that it has here ----
  const LOOKS = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'opacity', 'font-family', 'font-size', 'font-style', 'font-weight'];
  for (const svg of all('figure svg').filter(each => !each.parentElement.closest('svg'))) {
    const save = Object.assign(document.createElement('button'), {type: 'button', className: 'copy take', textContent: 'SVG', title: 'Save this plot; as PDF, with all others: f2csa report --plots FOLDER'});
    save.addEventListener('click', () => {
      const copy = svg.cloneNode(true), from = [svg, ...all('*', svg)];
      [copy, ...all('*', copy)].forEach((each, k) => {
        const seen = getComputedStyle(from[k]);
        for (const name of LOOKS) each.style.setProperty(name, seen.getPropertyValue(name));
        each.removeAttribute('class');
      });
      copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
      const link = document.createElement('a'), named = svg.closest('[id]');
      link.href = URL.createObjectURL(new Blob(['<!-- f2csa-verify -->\n', copy.outerHTML], {type: 'image/svg+xml'}));
      link.download = `${((named && named.id !== 'main' && named.id) || document.title).replace(/[^\w.-]+/g, '-')}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    (one('figcaption', svg.closest('figure')) || svg.closest('figure')).append(' ', save);
  }

  // ---- a sign says what it means once; those after it say the same when they are pointed at ----
  const meanings = new Map(), signs = all('abbr.sym, abbr.rung, span.sign'), key = sign => sign.className + ' ' + sign.textContent;
  for (const sign of signs) if (sign.title && !meanings.has(key(sign))) meanings.set(key(sign), sign.title);
  for (const sign of signs) if (!sign.title && meanings.has(key(sign))) sign.title = meanings.get(key(sign));

  // ---- all steps at once; commands to copy ----
  const steps = all('details.step'), button = one('button.open-all');
  if (button && steps.length) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const close = steps.every(each => each.open);
      for (const each of steps) each.open = !close;
      button.textContent = close ? 'Open all' : 'Close all';
    });
  }
  for (const command of all('.cmd')) {
    const copy = document.createElement('button');
    copy.type = 'button';
    copy.className = 'copy';
    copy.textContent = 'Copy';
    copy.addEventListener('click', async () => {
      const code = one('code', command);
      try {
        await navigator.clipboard.writeText(code.textContent);
        copy.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(code);
        copy.textContent = 'Selected';
      }
      setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
    });
    command.append(copy);
  }
})();
