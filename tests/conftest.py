"""What holds for every test: no network but loopback, and an environment and a home of our own."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from openai_server import OpenAIServer

pytest_plugins = ["pytester"]

KEPT = {"JUDGE_CASES", "JUDGE_TEST_PG"}
"""Variables that speak to the tests, not to the package."""


def _steers_us(variable: str) -> bool:
    ours = variable.startswith(("JUDGE_", "LANGSMITH_", "LANGCHAIN_", "DEEPEVAL_", "LITELLM_"))
    return (ours or variable.endswith("_API_KEY")) and variable not in KEPT


@pytest.fixture(scope="session")
def a_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _our_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, a_home: Path) -> None:
    if request.node.get_closest_marker("live"):
        return
    monkeypatch.setenv("HOME", str(a_home))
    for variable in filter(_steers_us, list(os.environ)):
        monkeypatch.delenv(variable)


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    if request.node.get_closest_marker("live"):
        yield
        return
    tried: list[object] = []

    def guarded(method):
        def connect(self: socket.socket, address, *rest):
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
                tried.append(address)
                raise PermissionError(f"the tests may reach loopback only, not {address}")
            return method(self, address, *rest)

        return connect

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
    yield
    assert not tried, f"the test tried to reach {tried}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture
def serve() -> Iterator[Callable[..., OpenAIServer]]:
    """Starts a provider on loopback that behaves as told; see `openai_server`."""
    with ExitStack() as open_servers:
        yield lambda *behaviours: open_servers.enter_context(OpenAIServer(behaviours))
