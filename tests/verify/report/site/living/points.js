// Every state of the page at some alphas, with all that it comes to.
const words = fractions => fractions.map(([top, bottom]) => `${top}/${bottom}`);
const states = (data, model) =>
  Object.keys(data.places).flatMap(on =>
    Object.keys(data.places[on].states).map(key => {
      const [dual_term, ...rest] = key.split(',');
      if (rest[0] === 'exact') return { ...model.all('repaired'), on, dual_term, errors: false, key };
      return {
        ...model.all('repaired'),
        ...Object.fromEntries(data.hangs_on.slice(1).map((f, k) => [f, rest[k]])),
        on,
        dual_term,
        errors: true,
        key,
      };
    }),
  );
const points = (data, model, alphas) =>
  states(data, model).flatMap(s =>
    alphas.map(text => {
      const i = data.alphas.indexOf(text),
        at = parsed(text),
        kept = model.stages(s),
        { parts, total } = model.estimate(s, at);
      const of = name => words(vector(kept[name], at));
      return {
        on: s.on,
        key: s.key,
        alpha: text,
        signs: model.state(s).signs,
        y_star: of('y_star'),
        lam: of('lam'),
        rho: of('rho'),
        y_min: of('y_min'),
        y: of('y'),
        total: words(total),
        doubles: total.map(double),
        size: model.size(s, 'bias', at),
        largest: Math.max(
          1,
          ...Object.values(parts)
            .flat()
            .map(v => Math.abs(double(v))),
        ),
        command: model.command(s, i),
      };
    }),
  );
const others = (data, model, alphas) =>
  Object.keys(data.places).flatMap(on =>
    ['variance', 'gradient'].flatMap(tab =>
      data.switches[data.tabs[tab].decided_by].values.flatMap(value =>
        alphas.map(text => ({
          on,
          tab,
          value,
          alpha: text,
          exact: words([evaluated(data.places[on].measured[tab][value].function, parsed(text))])[0],
        })),
      ),
    ),
  );
