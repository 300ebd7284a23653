"""The page's own script made to answer: in a browser where there is one, else its arithmetic alone by node."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.verify.report.site.browser import CHROMIUM, PHONE, SECONDS
from verify.report.site.frame import LIVING
from verify.report.site.living.algorithm_page import SCRIPT

NODE = shutil.which("node")
NO_SCRIPT = "neither Chromium nor node is installed"
_DATA = re.compile(r'<script type="application/json" id="living-data">(.*?)</script>', re.DOTALL)

POINTS = (Path(__file__).parent / "points.js").read_text(encoding="utf-8")
"""Defines ``points`` and ``others``: every state of the page at some alphas, with all that it comes to."""

_BROWSER = """<!DOCTYPE html><meta charset="utf-8"><title>driver</title><body><script>
const frame = document.createElement('iframe');
frame.style.cssText = 'border:0;width:WIDTHpx;height:900px';
frame.addEventListener('load', async () => {
  const answer = await frame.contentWindow.eval(`(async () => { ${SCRIPT} })()`);
  document.body.replaceChildren(Object.assign(document.createElement('pre'), { textContent: JSON.stringify(answer) }));
});
frame.src = SOURCE;
document.body.append(frame);
</script>"""


@dataclass(frozen=True)
class Answer:
    """What the script answers, and what the browser's console says."""

    value: Any
    console: list[str] = field(default_factory=list)


def ask_browser(folder: Path, script: str, scratch: Path, *, address: str = "", width: int = PHONE) -> Answer:
    """The value that a script returns within the page, opened at an address."""
    driver = scratch / "ask.html"
    text = _BROWSER.replace("WIDTH", str(width)).replace("SOURCE", json.dumps((folder / LIVING).as_uri() + address))
    driver.write_text(text.replace("${SCRIPT}", script.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")))
    done = subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         "--enable-logging=stderr", f"--user-data-dir={scratch / 'asking'}", "--virtual-time-budget=600000",
         "--window-size=1320,1000", "--dump-dom", driver.as_uri()],
        capture_output=True, text=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    found = re.search(r"<pre>(.*)</pre>", done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-500:] + done.stderr[-2000:]
    return Answer(json.loads(html.unescape(found[1])), [line for line in done.stderr.splitlines() if "CONSOLE" in line])


def ask(folder: Path, script: str, scratch: Path) -> Any:
    """What a script that needs ``data`` and ``model`` alone returns, by whichever there is."""
    if CHROMIUM:
        return ask_browser(folder, f"const {{ data, model }} = livingAlgorithm; {script}", scratch).value
    made = _DATA.search((folder / LIVING).read_text(encoding="utf-8"))
    assert made is not None
    text = (folder / SCRIPT).read_text(encoding="utf-8")
    plain = f"const data = {made[1]};\n{text}\nconst model = algorithm(data);\n"
    source = f"{plain}(async () => {{ {script} }})().then(found => console.log(JSON.stringify(found)));"
    done = subprocess.run([str(NODE), "-"], input=source, capture_output=True, text=True, timeout=SECONDS, check=True)
    return json.loads(done.stdout)
