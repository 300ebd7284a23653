// A reader's hands on the page: presses, turns and slides, and what the page says then.
const at = id => document.getElementById(`living-${id}`),
  doc = document,
  steps = {};
const said = () => at('said').textContent;
const press = key =>
  doc.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const turn = (name, value) => doc.querySelector(`input[name="${name}"][value="${value}"]`).click();
const preset = name => {
  doc.querySelector(`[data-preset="${name}"]`).click();
  return { said: said(), at: location.hash };
};
steps.presets = Object.fromEntries(
  [...doc.querySelectorAll('[data-preset]')].map(b => [b.dataset.preset, preset(b.dataset.preset)]),
);
preset('repaired');
at('tab-bias').click();
steps.tabs = ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'Home', 'End'].map(key => {
  press(key);
  return doc.activeElement.id;
});
preset('repaired');
turn('on', 'toy1');
turn('ramp_width', 'tau-delta');
steps.broken = {
  said: said(),
  at: location.hash,
  struck: doc.querySelectorAll('mark.struck[data-for=ramp_width]').length,
};
turn('ramp_width', 'delta');
steps.mended = {
  said: said(),
  struck: doc.querySelectorAll('mark.struck[data-for=ramp_width]').length,
  written: [...doc.querySelectorAll('ins[data-for=ramp_width]')].filter(e => !e.hidden).map(e => e.textContent),
};
at('alpha').value = at('alpha').max;
at('alpha').dispatchEvent(new Event('input', { bubbles: true }));
steps.smallest = { at: location.hash, text: at('alpha').getAttribute('aria-valuetext') };
turn('dual_term', 'both-maps');
turn('on', 'weakly-active');
steps.kink = {
  at: location.hash,
  disabled: [...doc.querySelectorAll('input[name=dual_term]:disabled')].map(e => e.value),
};
steps.named = [...doc.querySelectorAll('.living button, .living input, .living [role=img]')]
  .filter(e => e.checkVisibility())
  .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim()))
  .map(e => e.outerHTML);
steps.live = at('said').getAttribute('aria-live');
steps.fetched = performance
  .getEntriesByType('resource')
  .map(e => e.name)
  .filter(name => !name.startsWith('file:'));
steps.over = doc.scrollingElement.scrollWidth - innerWidth;
steps.hidden = [...doc.querySelectorAll('.living .why')].filter(e => !e.hidden).map(e => e.dataset.why);
return steps;
