// Evaluates the toy problem's two estimates, rational functions of alpha given by their coefficients.
(() => {
  'use strict';
  const at = id => document.getElementById(id), slider = at('toy-alpha');
  if (!slider) return;
  const toy = JSON.parse(at('toy-data').textContent), [left, wide, top, tall] = toy.box, [low, high] = toy.decades;
  const horner = (coefficients, a) => coefficients.reduceRight((value, c) => value * a + c, 0);
  const estimate = ([over, under], a) => horner(over, a) / horner(under, a);
  const x = a => left + Math.log(toy.high / a) / Math.log(toy.high / toy.low) * wide;
  const y = error => top + (high - Math.log10(error)) / (high - low) * tall;
  const raised = power => [...String(Number(power))].map(c => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('');
  const shown = v => v === 0 ? '0' : v >= 1e6 || v < 1e-3
    ? v.toExponential(3).replace(/\.?0*e(.*)$/, (_, power) => ` × 10${raised(power)}`) : String(Number(v.toPrecision(6)));
  const go = () => {
    // What is printed is what is evaluated.
    const said = Number((10 ** -slider.value).toPrecision(2)).toString(), a = Number(said);
    at('toy-said').textContent = said;
    at('toy-line').setAttribute('d', `M${x(a)} ${top}V${top + tall}`);
    const errors = ['written', 'repaired'].map(name => {
      const value = estimate(toy[name], a), error = Math.abs(value - toy.truth);
      at(`toy-${name}`).textContent = shown(value);
      at(`toy-${name}-error`).textContent = shown(error);
      at(`toy-${name}-mark`).setAttribute('transform', `translate(${x(a)} ${y(error)})`);
      return shown(error);
    });
    slider.setAttribute('aria-valuetext', `alpha ${said}: error ${errors[0]} as written, ${errors[1]} repaired`);
  };
  slider.closest('[hidden]').hidden = false;
  slider.addEventListener('input', go);
})();
