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
      script.onload = () => { index = (window.f2csaIndex || []).flatMap(([file, page, found]) => found.map(([at, title, text]) => ({file, page, at, title, text, low: flat(text), head: flat(page + ' ' + title)}))); done(); };
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
