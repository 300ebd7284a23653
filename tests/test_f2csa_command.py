"""Somebody else's packages of our names: noticed at the start, said in one line with the mend, never a traceback."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import f2csa_command
from f2csa_command import FIRST_WORDS, ROOT, own_files
from verify.cli import main as command_line
from verify.cli.main import invoke

PACKAGES = ("spec", "f2csa_ref", "verify")


def record_of(root: Path, names: list[str]) -> str:
    """A RECORD as installers write it."""
    lines = []
    for name in names:
        found = hashlib.sha256((root / name).read_bytes()).digest()
        lines.append(f"{name},sha256={base64.urlsafe_b64encode(found).decode().rstrip('=')},1\n")
    return "".join(lines)


def install(root: Path, name: str, version: str, files: dict[str, str] | list[str]) -> None:
    """Put a distribution into a folder, over what is there; or say that files there are its own."""
    for file, text in files.items() if isinstance(files, dict) else ():
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(text)
    info = root / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(record_of(root, list(files)))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages as a wheel puts them there."""
    root = tmp_path_factory.mktemp("site")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "f2csa_command.py", root)
    names = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]
    install(root, "f2csa-verify", "0.1.0", names)
    return root


@pytest.fixture
def site(wheel: Path, tmp_path: Path) -> Path:
    root = tmp_path / "site"
    shutil.copytree(wheel, root, copy_function=os.link)
    for name in FIRST_WORDS:  # what is to be written over is no other name of the common file
        text = (root / name).read_bytes()
        (root / name).unlink()
        (root / name).write_bytes(text)
    return root


def run(site: Path, *arguments: str) -> tuple[int, str, str]:
    command = [sys.executable, "-P", "-c", "from f2csa_command import main; main()", *arguments]
    made = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=site.parent,
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    return made.returncode, made.stdout, made.stderr


def overwrite(site: Path, *names: str) -> None:
    for name in names:
        install(site, name, "1.4", {f"{name}/__init__.py": '"""RSpec for Python."""\n', f"{name}/more.py": ""})


def test_every_file_begins_as_is_said() -> None:
    assert own_files().altered == ()
    assert [name for name in FIRST_WORDS if not (ROOT / name).is_file()] == []


def test_what_was_installed_is_well(site: Path) -> None:
    assert (own_files(site).installed, str(own_files(site))) == ("as a wheel", "")
    code, out, err = run(site, "doctor")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "well: every file of the packages is the one that was installed"
    assert f"packages: {site}, installed as a wheel" in out.splitlines()


@pytest.mark.parametrize("names", [("spec",), ("verify",), ("spec", "verify")])
@pytest.mark.parametrize("arguments", [("claims",), ("doctor", "--json"), ("--help",)])
def test_another_distributions_files_are_noticed(
    site: Path, names: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    overwrite(site, *names)
    code, out, err = run(site, *arguments)
    files = ", ".join(f"{name}/__init__.py" for name in names)
    whose = ", ".join(f"{name} 1.4" for name in names)
    mend = f"pip uninstall {' '.join(names)}; pip install --force-reinstall --no-deps f2csa-verify"
    said = f"f2csa: files of this package are those of {whose} ({files} in {site}): {mend}\n"
    assert (code, out, err) == (3, "", said)


@pytest.mark.parametrize("text", ["import no_such_thing\n", "def (\n", None])
def test_whatever_they_hold(site: Path, text: str | None) -> None:
    if text is None:
        (site / "verify/cli/main.py").unlink()
    else:
        install(site, "verify", "2", {"verify/__init__.py": text, "verify/cli/main.py": text})
    code, _, err = run(site, "claims")
    assert code == 3
    assert err.count("\n") == 1
    assert "verify/cli/main.py" in err


def test_an_altered_file_within_is_told_where_it_breaks_a_command(site: Path) -> None:
    errors = (site / "spec/errors.py").read_text()
    (site / "spec/errors.py").unlink()
    (site / "spec/errors.py").write_text(errors.replace("class InvalidInputError", "class Other"))
    said = (
        f"files of this package are no longer those that were installed (spec/errors.py in {site}): "
        "pip install --force-reinstall --no-deps f2csa-verify"
    )
    assert run(site, "claims", "nope") == (3, "", f"f2csa: {said}\n")
    assert str(own_files(site)) == said


def test_doctor_finds_what_breaks_nothing(site: Path) -> None:
    for place in ("docs", "paper"):
        changed = next((site / "verify" / "report" / "templates" / "site").glob("*.j2"))
        text = changed.read_text()
        changed.unlink()
        changed.write_text(f"{text}{place}")
    code, out, _ = run(site, "doctor", "--json")
    found = json.loads(out)
    assert code == 3
    assert (found["well"], found["altered"]) == (False, [changed.relative_to(site).as_posix()])


def test_the_place_it_came_from_mends_it(site: Path) -> None:
    (site / "f2csa_verify-0.1.0.dist-info" / "direct_url.json").write_text('{"url": "file:///a%20b/f.whl"}')
    overwrite(site, "spec")
    assert str(own_files(site)).endswith("pip uninstall spec; pip install --force-reinstall --no-deps '/a b/f.whl'")


def test_a_package_in_front_is_named(tmp_path: Path) -> None:
    (tmp_path / "front" / "verify").mkdir(parents=True)
    other = tmp_path / "front" / "verify" / "__init__.py"
    other.write_text("")
    path = os.pathsep.join([str(other.parents[1]), str(ROOT)])
    command = [sys.executable, "-P", "-c", "from f2csa_command import main; main()", "claims"]
    made = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert made.returncode == 3
    assert made.stderr == (
        f"f2csa: {other} stands in front of this package's own verify ({ROOT / 'verify'}): uninstall it, or rename it\n"
    )


def test_nothing_is_said_of_files_in_an_archive(tmp_path: Path) -> None:
    assert own_files(tmp_path / "app.pyz").altered == ()


def test_a_fault_of_our_own_stays_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ImportError("cannot import name")

    monkeypatch.setattr(command_line, "_run", fail)
    assert invoke(["claims"]) == 3
    assert "internal fault: ImportError" in capsys.readouterr().err


def test_the_command_says_what_computes_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"python", "numpy", "scipy", "sympy", "daqp", "python-flint", "f2csa-verify"} <= found["versions"].keys()
    assert {"numpy dispatch", "BLAS", "BLAS threads", "libm", "cores"} <= found["machine"].keys()
    assert found["packages"] == str(f2csa_command.ROOT)
    assert invoke(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  BLAS: {found['machine']['BLAS']}" in lines
    assert lines[-1].startswith("well: ")


@pytest.mark.skipif(sys.platform != "linux", reason="OpenBLAS is told its kernel by this variable where it is built so")
def test_the_kernel_is_the_one_that_computes() -> None:
    environment = {**os.environ, "OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"}
    made = subprocess.run(
        [sys.executable, "-m", "verify", "doctor", "--json"], capture_output=True, text=True, check=True, cwd=ROOT,
        env=environment, timeout=120,
    )  # fmt: skip
    found = json.loads(made.stdout)
    assert found["settings"]["OPENBLAS_CORETYPE"] == "Nehalem"
    assert "X86_V4" not in found["machine"]["numpy dispatch"]
    if "openblas" in found["machine"]["BLAS"]:
        assert "Nehalem" in found["machine"]["BLAS"]
