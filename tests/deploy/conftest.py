"""Fixtures that render the Helm chart with the helm that scripts/helm builds."""

import os
import shutil

import pytest

from tests.deploy.manifests import CHART, ROOT, Tree, render


@pytest.fixture(scope="session")
def helm() -> str:
    """Return the path of the helm program."""
    built = ROOT / "build" / "bin" / "helm"
    program = str(built) if built.exists() else shutil.which("helm")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("helm is not installed, and in CI nothing is skipped")
        pytest.skip("needs helm: scripts/helm builds it")
    return program


@pytest.fixture(scope="session", params=["values", "ci/scaledjob-values"])
def manifests(
    request: pytest.FixtureRequest, helm: str, tmp_path_factory: pytest.TempPathFactory
) -> list[Tree]:
    """Render the chart with its default values, and with every optional part switched on."""
    values = CHART / f"{request.param}.yaml"
    return render(helm, tmp_path_factory.mktemp("helm"), "--values", values)
