"""A model's service on the loopback, and the real ``lsp-agent rpc`` that asks it."""

from collections.abc import Iterator

import pytest
from model_desk import PROVIDERS, Desk


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"desk {name}")) for name in PROVIDERS
    ],
)
def whole_desk(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    desk = Desk(request.param, tmp_path_factory.mktemp(request.param))
    yield desk
    desk.close()


@pytest.fixture
def desk(whole_desk: Desk) -> Desk:
    whole_desk.begin_anew()
    return whole_desk
