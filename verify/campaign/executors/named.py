"""An executor by its name: ``dask://HOST:PORT`` for a cluster that runs, ``package.module:factory`` for any other."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any
from urllib.parse import urlsplit

from spec.errors import InvalidInputError
from spec.neighbours import working_folder_first
from verify.subjects.faults import described

DASK = "dask://"
PATIENCE = 10.0
"""Seconds a Dask scheduler may take to answer, and to have a worker."""
_RULE = 'must be "dask://HOST:PORT" or "package.module:factory"'


def factory_of(spec: str, argument: str = "executor") -> Callable[[], Executor]:
    """What makes the executor of this name, again where it broke.

    Args:
        spec: The name.
        argument: What a message about it names.

    Raises:
        InvalidInputError: If it is none, or cannot be imported. What is returned raises it where nobody answers.
    """
    if spec.startswith(DASK):
        return _dask(spec, argument)
    module, colon, name = spec.partition(":")
    if not (colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))):
        raise InvalidInputError(argument, _RULE, spec)

    def made() -> Executor:
        try:
            # A file beside the user's shell is what they mean by `my_cluster:executor`.
            with working_folder_first():
                attribute: Any = importlib.import_module(module)
                for part in name.split("."):
                    attribute = getattr(attribute, part)
                executor = attribute()
        except (KeyboardInterrupt, InvalidInputError):
            raise
        except BaseException as error:  # exit() as well: it must not end the run with a success
            raise InvalidInputError(argument, f"cannot be made ({described(error)})", spec) from None
        if not isinstance(executor, Executor):
            rule = f"must return a concurrent.futures.Executor, not {type(executor).__name__}"
            raise InvalidInputError(argument, rule, spec)
        return executor

    return made


def _dask(spec: str, argument: str) -> Callable[[], Executor]:
    address = spec.removeprefix(DASK)
    try:
        parts = urlsplit(f"tcp://{address}")
        whole = bool(parts.hostname and parts.port) and parts.netloc == address and "@" not in address
    except ValueError:
        whole = False
    if not whole:
        raise InvalidInputError(argument, _RULE, spec)
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        rule = f"needs the package distributed: pip install distributed ({described(error)})"
        raise InvalidInputError(argument, rule, spec) from None

    def made() -> Executor:
        client = None
        try:
            client = distributed.Client(f"tcp://{address}", timeout=PATIENCE, set_as_default=False)
            client.wait_for_workers(1, timeout=PATIENCE)
        except Exception as error:
            if client is not None:
                client.close(timeout=1)
                raise InvalidInputError(argument, f"must have a worker within {PATIENCE:g} s", spec) from None
            raise InvalidInputError(
                argument, f"must be a Dask scheduler that answers ({described(error)})", spec
            ) from None
        return OnDask(client)

    return made


class OnDask(Executor):
    """A client's executor that closes its client.

    Args:
        client: A ``distributed.Client``.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._pool = client.get_executor()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As :meth:`concurrent.futures.Executor.submit`."""
        if self._client.status != "running":
            # A client that lost its scheduler takes what it is given, and never answers.
            raise BrokenExecutor("the Dask scheduler is gone")
        future: Future[Any] = self._pool.submit(fn, *args, **kwargs)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Give the cluster back: what was not begun is forgotten unless it is waited for."""
        self._pool.shutdown(wait=wait and not cancel_futures)
        self._client.close(timeout=PATIENCE)
