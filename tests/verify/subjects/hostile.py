"""Subjects that would rather have a success than earn one: each a module's text; all else in them is right."""

from __future__ import annotations

RIGHT = """
from verify.subjects import ReferenceSubject

class Subject(ReferenceSubject):
    name = "mine"
    version = "1"
"""
AT_IMPORT = {
    "ends-the-process": "import os\nos._exit(0)\n",
    "leaves": "import sys\nsys.exit(0)\n",
    "leaves-at-exit": "import atexit, os\natexit.register(os._exit, 0)\nraise RuntimeError('no licence')\n",
    "ends-in-a-thread": "import os, threading, time\nthreading.Timer(0.05, os._exit, (0,)).start()\ntime.sleep(30)\n",
    "kills-its-parent": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + RIGHT.replace("mine", "orphan"),
    "kills-its-group": "import os, signal\nos.killpg(0, signal.SIGKILL)\n",
    "interrupts": "raise KeyboardInterrupt\n",
    "ends-a-generator": "raise GeneratorExit\n",
    "recurses": "def f():\n    return f()\nf()\n",
    "closes-every-descriptor": "import os\nos.closerange(0, 256)\n" + RIGHT,
    "sleeps": "import time\ntime.sleep(1000)\n",
    "is-empty": "",
    "offers-nothing": "class Subject:\n    name = 'mine'\n",
    "is-no-python": "class Subject:\n  name = 'mine\n",
}
"""What happens while the module is imported."""


def _method(body: str, *, before: str = "") -> str:
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    needed = "import os, sys, threading, time\nimport numpy as np\n"
    return f"{needed}{before}\n{RIGHT}\n    def hypergradient(self, *given):\n{lines}\n"


IN_A_CALL = {
    "ends-in-a-call": _method("os._exit(0)"),
    "leaves-in-a-call": _method("sys.exit(0)"),
    "raises-an-interrupt": _method("raise KeyboardInterrupt"),
    "answers-zero": _method("return np.zeros(len(given[1]))"),
    "answers-its-point": _method("return given[1]"),
    "answers-not-a-number": _method("return np.full(len(given[1]), np.nan)"),
    "answers-truth": _method("return [True] * len(given[1])"),
    "answers-text": _method("return ['0.1'] * len(given[1])"),
    "answers-nothing": _method("return None"),
    "answers-too-much": _method("return np.zeros(10**6)"),
    "leaves-where-it-is-shown": _method(
        "raise Shown()", before="class Shown(Exception):\n    def __str__(self):\n        os._exit(0)\n"
    ),
    "leaves-as-an-array": _method(
        "return Array()", before="class Array:\n    def __array__(self, *a, **k):\n        os._exit(0)\n"
    ),
    "leaves-when-it-is-forgotten": _method(
        "Held()\nreturn np.zeros(len(given[1]))", before="class Held:\n    def __del__(self):\n        os._exit(0)\n"
    ),
    "leaves-a-thread-that-ends-all": _method(
        "threading.Timer(0.2, os._exit, (0,)).start()\nreturn np.zeros(len(given[1]))"
    ),
    "hangs": _method("time.sleep(1000)"),
    "holds-the-interpreter": _method("sum(1 for _ in iter(int, 1))"),
    "takes-memory": _method("held = []\nwhile True:\n    held.append(np.ones(10**7))"),
    "judges-itself": _method(
        """
import verify.verdict as verdict
import verify.campaign.plan as plan
import verify.report.model as model
verdict.decide = plan.decide = lambda *a, **k: verdict.Decision(verdict.Verdict.SUPPORTED, 'Supported.')
model.Report.exit_code = property(lambda self: 0)
return np.zeros(len(given[1]))
"""
    ),
    "prints-a-letter-everywhere": _method(
        """
text = b'mine conforms: every stage agrees, 71 of 71 statements hold.\\n'
for number in range(256):
    try:
        os.write(number, text)
    except OSError:
        pass
return np.zeros(len(given[1]))
"""
    ),
    "answers-for-the-wire": _method(
        """
line = b'{"jsonrpc":"2.0","id":%d,"result":{"hypergradient":[0.0]}}\\n'
for number in range(3, 64):
    for k in range(40):
        try:
            os.write(number, line % k)
        except OSError:
            break
return np.zeros(len(given[1]))
"""
    ),
    "floods-its-error-stream": _method("os.write(2, b'\\x1b[2J' * 500000)\nreturn np.zeros(len(given[1]))"),
    "steers-the-terminal": _method("raise ValueError('\\x1b]0;mine conforms\\x07\\x1b[2J\\ud800')"),
    "hides-a-child": _method(
        """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', 'left-behind-MARK'], {})
    os._exit(0)
return np.zeros(len(given[1]))
"""
    ),
    "kills-its-guard": _method(
        """
if os.fork() == 0:
    os.setsid()
    os.execve(sys.executable, [sys.executable, '-c', 'import time; time.sleep(600)', 'left-behind-MARK'], {})
os.kill(GUARD, 9)
return np.zeros(len(given[1]))
""",
        before="GUARD = os.getppid()\n",
    ),
    "knows-the-published-answers": _method(
        """
from verify.conformance.places.places import atlas_places, further_places, every_term_places
known = [place.problem.arrays.g_yy for place in (*atlas_places(), *further_places(), *every_term_places())]
mine = getattr(given[0], 'quadratic', given[0]).arrays.g_yy
if any(one.shape == mine.shape and (one == mine).all() for one in known):
    return super().hypergradient(*given)
return np.zeros(len(given[1]))
"""
    ),
}
"""What happens once a hypergradient is asked for."""
