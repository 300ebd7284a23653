from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import Generated, InvalidInputError, Quadratic, dumps_problem, load_problem, loads_problem, parse_problem
from spec.blocks import array_files as module
from spec.exact import ExactArray
from spec.problem import digest, save_problem

BLOCKS = {"g_yy": np.array([[2.0, 0.5], [0.5, 3.0]]), "B": np.array([[1.0, 0.0], [0.25, -1.0], [0.0, 0.1]])}


def write(folder: Path, problem: dict[str, Any] | None = None, **arrays: Any) -> Path:
    np.savez(folder / "blocks.npz", **(BLOCKS | arrays))
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    path = folder / "mine.json"
    path.write_text(json.dumps(problem or by_files()))
    return path


def by_files(**more: Any) -> dict[str, Any]:
    """A problem whose Hessian and rows stand in an archive; ``more`` are other blocks of g."""
    return {"kind": "quadratic", "f": {"x": ["1/3"]}, "g": {"yy": {"npz": "blocks.npz", "array": "g_yy"}} | more,
            "constraints": {"B": {"npz": "blocks.npz", "array": "B"}}}  # fmt: skip


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInputError) as caught:
        load_problem(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_blocks_beside_the_file_are_the_blocks_written_out(tmp_path: Path) -> None:
    read = load_problem(write(tmp_path, by_files(y={"npy": "c.npy"}), c=np.array([1, -2])))
    spelled = by_files(y=[1, -2])
    spelled["g"]["yy"] = [["2", 0.5], [0.5, 3]]
    spelled["constraints"]["B"] = [[1, 0], ["0.25", -1], [0, 0.1]]
    assert read == parse_problem(spelled)
    assert dumps_problem(read) == dumps_problem(parse_problem(spelled))
    assert hash(read) == hash(parse_problem(spelled))
    assert isinstance(read, Quadratic)
    assert not read.arrays.g_yy.flags.writeable


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "int16", "uint8"])
def test_any_numbers_that_are_doubles_are_read(dtype: str, tmp_path: Path) -> None:
    for order in ("C", "F"):
        array = np.array([[2, 0.5], [0.5, 3]]) if "f" in dtype else np.array([[2, 1], [1, 3]])
        read = load_problem(write(tmp_path, g_yy=array.astype(dtype, order=order)))
        assert isinstance(read, Quadratic)
        assert read.arrays.g_yy.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array([[2.0, np.nan], [0.5, 3]]), "mine.json.g.yy[0][1]: must be finite; got NaN"),
        (np.array([[2.0, 0.5], [np.inf, 3]]), "mine.json.g.yy[1][0]: must be finite; got Infinity"),
        (np.array([[1e200, 0], [0, 3]]), "mine.json.g.yy[0][0]: must be 0 or of magnitude 1e-150 to 1e150"),
        (np.array([[2**60, 0], [0, 3]]), "mine.json.g.yy[0][0]: integers must be at most 9007199254740992"),
        (np.array([[2, 0.5], [0.4, 3]]), "mine.json.g.yy: must be symmetric"),
        (np.array([[2, 0.5, 0], [0.5, 3, 0]]), "mine.json.g.yy: must have shape (2, 2); got (2, 3)"),
        (np.array([[1.0, 2], [2, 1]]), "mine.json.g.yy: must be positive definite; its smallest eigenvalue is -1"),
        (np.array([2.0, 3.0]), "mine.json.g.yy: must have 2 dimension(s); got (2,)"),
        (np.ones((2, 2, 1)), "mine.json.g.yy: must have 1 or 2 dimensions"),
        (np.ones((2, 0)), "mine.json.g.yy: must not be empty"),
        (np.ones((2, 2), dtype=bool), "mine.json.g.yy: must hold doubles, floats or integers; got bool"),
        (np.ones((2, 2), dtype=complex), "mine.json.g.yy: must hold doubles, floats or integers; got complex128"),
        (np.ones((2, 2), dtype=np.longdouble), "mine.json.g.yy: must hold doubles, floats or integers"),
        (np.array([[{}, 1], [1, 2]], dtype=object), "mine.json.g.yy: must hold doubles, floats or integers"),
        (np.ones((1, 20000)), "mine.json.g.yy: must have at most 16384 entries a side"),
    ],
    ids=range(15),
)  # fmt: skip
def test_a_broken_array_is_refused_by_its_block(array: Any, said: str, tmp_path: Path) -> None:
    assert refusal(write(tmp_path, g_yy=array)).startswith(said)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ({"npy": "none.npy"}, "cannot be read (No such file or directory)"),
        ({"npy": "../mine.npy"}, "must name a file by its path relative to the problem's"),
        ({"npy": "/etc/hosts"}, "must name a file by its path relative to the problem's"),
        ({"npy": ""}, "must name a file by its path relative to the problem's"),
        ({"npy": "mine.json"}, "is no readable numpy file"),
        ({"npy": "."}, "must name a file by its path relative"),
        ({"npz": "blocks.npz", "array": "H"}, "must name an array of the archive, one of: B, g_yy; got H"),
        ({"npz": "mine.json", "array": "H"}, "is no readable numpy file"),
        ({"npz": "blocks.npz"}, 'must be a list, {"npy": FILE} or {"npz": FILE, "array": NAME}'),
        ({"npy": 3}, 'must be a list, {"npy": FILE}'),
        ({}, 'must be a list, {"npy": FILE}'),
        ({"npy": "a.npy", "more": "b"}, 'must be a list, {"npy": FILE}'),
        ({"npy": "nul\0"}, "is no readable numpy file"),
    ],
)
def test_a_broken_reference_is_refused_by_its_block(reference: Any, said: str, tmp_path: Path) -> None:
    message = refusal(write(tmp_path, by_files(yy=reference)))
    assert message.startswith(f"mine.json.g.yy: {said}")


def test_a_pipe_or_a_folder_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "folder.npy").mkdir()
    for reference in ({"npy": "pipe.npy"}, {"npz": "pipe.npy", "array": "g_yy"}, {"npy": "folder.npy"}):
        path = write(tmp_path, by_files(yy=reference))
        assert "must name a file, no folder, pipe or device" in refusal(path)


def test_a_block_that_fits_no_other_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, g_yy=np.zeros((3000, 3000)))
    monkeypatch.setattr("spec.blocks.array_files._array", lambda *_: pytest.fail("read before it was looked at"))
    assert refusal(path) == "mine.json.constraints.B: must have shape (3, 3000); got (3, 2)"


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    path = write(tmp_path / "own", by_files(y={"npy": "c.npy"}), c=np.array([1, -2]))
    (tmp_path / "own" / "c.npy").rename(tmp_path / "elsewhere.npy")
    (tmp_path / "own" / "c.npy").symlink_to(tmp_path / "elsewhere.npy")
    assert "must name a file in the problem's folder, no link out of it" in refusal(path)


def test_a_file_cut_short_or_of_pickles_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, by_files(yy={"npy": "g_yy.npy"}), g_yy=BLOCKS["g_yy"])
    whole = (tmp_path / "g_yy.npy").read_bytes()
    for end in (0, 4, 60, len(whole) - 1):
        (tmp_path / "g_yy.npy").write_bytes(whole[:end])
        assert refusal(path).startswith("mine.json.g.yy: ")
    (tmp_path / "g_yy.npy").write_bytes(b"\x80\x04\x95")
    assert "is no readable numpy file" in refusal(path)


def test_a_header_that_promises_too_much_is_refused_before_its_numbers_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    monkeypatch.setattr(module, "MAX_BLOCK_BYTES", 16)
    assert "must have at most 16384 entries a side and 16 bytes; got (2, 2)" in refusal(path)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path)
    content = bytearray((tmp_path / "blocks.npz").read_bytes())
    content[content.index(b"NUMPY") + 140] ^= 0xFF  # among the numbers: the check sum is off
    (tmp_path / "blocks.npz").write_bytes(content)
    assert "is no readable numpy file" in refusal(path)
    with zipfile.ZipFile(tmp_path / "blocks.npz", "w") as archive:
        archive.writestr("g_yy.npy", b"nothing")
    assert "is no readable numpy file" in refusal(path)


def test_files_may_be_named_only_where_the_problem_is_a_file() -> None:
    for refused in (lambda: parse_problem(by_files()), lambda: loads_problem(json.dumps(by_files()))):
        with pytest.raises(InvalidInputError, match=r"g\.yy: may name a file only where the problem is read from one"):
            refused()


def test_a_saved_problem_reads_back_equal_and_keeps_its_digest(tmp_path: Path) -> None:
    for n in (3, 210):
        drawn = Generated(family="coupled-rows", n=n, p=2, seed=1)
        save_problem(drawn, tmp_path / "big.json")
        read = load_problem(tmp_path / "big.json")
        assert read == drawn.quadratic
        assert digest(read) == digest(drawn.quadratic)
        assert isinstance(read, Quadratic)
        moved = read.model_copy(update={"f": read.f.model_copy(update={"y": ExactArray(np.ones(n), ndim=1)})})
        assert digest(moved) != digest(read)


def test_a_fraction_that_is_no_double_is_not_saved(tmp_path: Path) -> None:
    exact = parse_problem(by_files() | {"g": {"yy": [["1/3"]]}, "constraints": {"B": [[1]]}})
    with pytest.raises(InvalidInputError, match="f_x: must hold doubles"):
        save_problem(exact, tmp_path / "exact.json")


def test_symmetrising_doubles_takes_the_mean_of_doubles(tmp_path: Path) -> None:
    skewed = np.array([[2, 0.1], [0.3, 3]])
    read = load_problem(write(tmp_path, by_files() | {"symmetrise": True}, g_yy=skewed))
    assert isinstance(read, Quadratic)
    assert np.array_equal(read.arrays.g_yy, (skewed + skewed.T) / 2)
