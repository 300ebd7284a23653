"""The picture of a report in the README, taken by a real browser.

    f2csa verify && python -m benchmarks.report_picture report/report.html docs/report.png

Shows the first screen, 1280 pixels wide, in light colours; needs Chromium or Chrome. Exits with 2 where there is no
browser or no report.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDE, TALL = 1280, 1000
"""Size of the first screen, in pixels."""
SECONDS = 60


def picture(page: Path, out: Path, browser: str) -> None:
    """The first screen of a page as PNG.

    Raises:
        subprocess.SubprocessError: If the browser fails, or takes longer than a minute.
    """
    with tempfile.TemporaryDirectory() as scratch:
        shot = Path(scratch) / "shot.png"
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--window-size={WIDE},{TALL}", "--force-device-scale-factor=1", "--blink-settings=preferredColorScheme=1",
             f"--user-data-dir={Path(scratch) / 'profile'}", f"--screenshot={shot}", page.resolve().as_uri()],
            check=True, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
        shutil.copyfile(shot, out)


def main() -> int:
    """Take it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write(f"browser: must be one of {', '.join(BROWSERS)} on the path; got none of them\n")
        return 2
    if not asked.page.is_file():
        sys.stderr.write(f"page: must be a report's page; got {asked.page}\n")
        return 2
    try:
        picture(asked.page, asked.out, browser)
    except (subprocess.SubprocessError, OSError) as error:
        sys.stderr.write(f"out: no picture was taken ({type(error).__name__})\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
