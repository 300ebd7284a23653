"""Pages in a real browser, all in one start of it: what is too wide, what a script complains of, what axe finds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
AXE = Path(__file__).parents[4] / "node_modules" / "axe-core" / "axe.min.js"
"""Where ``npm install --no-save axe-core`` puts it."""
PHONE, DESK = 390, 1280
SECONDS = 120
DRIVER = """<!DOCTYPE html><meta charset="utf-8"><title>driver</title><body><script>
const asked = ASKED, axe = AXE, out = [];
const loaded = (src, width) => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.style.cssText = `border:0;width:${width}px;height:900px`;
  frame.addEventListener('load', () => done(frame));
  frame.src = src;
  document.body.replaceChildren(frame);
});
const audit = async frame => {
  if (!axe) return [];
  const inside = frame.contentDocument, script = inside.createElement('script');
  script.src = axe;
  await new Promise(done => { script.onload = done; inside.head.append(script); });
  const found = await frame.contentWindow.axe.run(inside, {resultTypes: ['violations'],
    runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}});
  return found.violations.map(each => `${each.id}: ${each.help}: `
    + each.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | '));
};
(async () => {
  for (const [name, src, width, wanted, search] of asked) {
    const frame = await loaded(src, width), page = frame.contentDocument;
    const target = page.getElementById(decodeURIComponent(frame.contentWindow.location.hash.slice(1)));
    const opened = target !== null && [...page.querySelectorAll('details')].every(e => e.open || !e.contains(target));
    if (search) {
      const press = key => page.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
      press('/');
      const field = page.activeElement;
      field.value = search;
      field.dispatchEvent(new Event('input', {bubbles: true}));
      const hits = field.closest('form.find');
      for (let k = 0; hits && k < 200 && !hits.querySelector('output').textContent; k++) {
        await new Promise(done => setTimeout(done, 20));
      }
    }
    const links = [...page.querySelectorAll('.hits a')];
    const over = () => page.scrollingElement.scrollWidth - frame.contentWindow.innerWidth;
    const closed = over();
    for (const each of page.querySelectorAll('details')) each.open = true;
    await new Promise(done => setTimeout(done, 60));  // what opens is fitted then
    const cut = [...page.querySelectorAll('math[display=block], .scroll')].filter(e => e.clientWidth
      && e.scrollWidth > e.clientWidth + 2).map(e => e.outerHTML.slice(0, 160));
    const rows = [...page.querySelectorAll('table.matrix tbody tr[id]')];
    const within = '.scroll, pre, math[display=block]', edge = frame.contentWindow.innerWidth + 1;
    const beyond = [...page.body.querySelectorAll('*')].filter(e => over() > 0 && !e.closest(within)
      && e.getBoundingClientRect().right > edge).map(e => e.outerHTML.slice(0, 160)).slice(-3);
    out.push({name, width, over: Math.max(closed, over()), beyond, axe: wanted ? await audit(frame) : [],
              opened, rows: rows.length, shown: rows.filter(row => !row.hidden).length,
              links: links.map(link => link.href), told: page.querySelector('.hits output')?.textContent || '', cut,
              away: page.querySelectorAll('.away').length, alone: page.querySelector('.mailed')?.textContent || '',
              leading: page.querySelectorAll('a[href^="pages/"]').length});
  }
  document.body.replaceChildren(Object.assign(document.createElement('pre'), {textContent: JSON.stringify(out)}));
})();
</script>"""


@dataclass(frozen=True)
class Seen:
    """One page at one width: how far it is too wide, pixels, what reaches beyond, what axe finds, rows and shown ones.

    ``opened``: whether what the address names is there, within no closed details.
    """

    name: str
    width: int
    over: int
    beyond: tuple[str, ...]
    axe: tuple[str, ...]
    opened: bool
    rows: int
    shown: int
    links: tuple[str, ...] = ()
    """Addresses that the search over all pages found."""
    told: str = ""
    """What that search says."""
    cut: tuple[str, ...] = ()
    """Formulas and tables that scroll within themselves, with everything open."""
    away: int = 0
    """Passages that say that they lead into a folder which is not there."""
    alone: str = ""
    """What a page says that came without its folder."""
    leading: int = 0
    """Links into the folder of pages."""


@dataclass(frozen=True)
class Visit:
    """One look at a page: its address behind the folder, its width, whether axe looks, too, and what is searched for.

    What is searched for is typed after the key ``/``.
    """

    name: str
    width: int = DESK
    audited: bool = False
    search: str = ""


def visit(folder: Path, visits: Sequence[Visit], scratch: Path, *, dark: bool = False) -> tuple[list[Seen], list[str]]:
    """What was seen, in order, and every line that the browser's console has."""
    asked = [[one.name, _address(folder, one.name), one.width, one.audited, one.search] for one in visits]
    axe = json.dumps(AXE.as_uri() if AXE.is_file() else "")
    driver = scratch / "driver.html"
    driver.write_text(DRIVER.replace("ASKED", json.dumps(asked)).replace("AXE", axe), encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         "--enable-logging=stderr", f"--user-data-dir={scratch / 'profile'}", "--virtual-time-budget=600000",
         f"--window-size={DESK + 40},1000", *scheme, "--dump-dom", driver.as_uri()],
        capture_output=True, text=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    found = re.search(r"<pre>(.*)</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-500:] + done.stderr[-2000:]
    text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    seen = [
        Seen(**{**each, "axe": tuple(each["axe"]), "beyond": tuple(each["beyond"]), "links": tuple(each["links"])})
        for each in json.loads(text)
    ]
    return seen, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def printed(page: Path, scratch: Path) -> int:
    """How many sheets of paper a page takes."""
    out = scratch / "page.pdf"
    subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
         f"--user-data-dir={scratch / 'printing'}", f"--print-to-pdf={out}", page.as_uri()],
        capture_output=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    return len(re.findall(rb"/Type\s*/Page\b", out.read_bytes()))


def _address(folder: Path, name: str) -> str:
    file, mark, fragment = name.partition("#")
    return (folder / file).as_uri() + mark + fragment
