"""Render the Helm chart and query its manifests."""

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "chart"
RELEASE = "arena"
Tree = dict[str, Any]


def render(helm: str, home: Path, *arguments: str | Path) -> list[Tree]:
    """Return the manifests that `helm template` renders."""
    command = [helm, "template", RELEASE, CHART, "--kube-version", "1.33.0", *arguments]
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


@dataclass(frozen=True)
class Pod:
    """A pod that a workload in the manifests would start."""

    owner: Tree
    labels: Mapping[str, str]
    spec: Tree

    @property
    def component(self) -> str:
        """Return the component of the arena that the pod runs."""
        return self.labels["app.kubernetes.io/component"]

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the annotations of the pod."""
        spec = self.owner["spec"]
        template = spec.get("jobTargetRef", spec)["template"]
        annotations: Mapping[str, str] = template["metadata"].get("annotations", {})
        return annotations

    @property
    def containers(self) -> list[Tree]:
        """Return the containers and the init containers."""
        return [*self.spec.get("initContainers", []), *self.spec["containers"]]

    @property
    def ports(self) -> dict[str, int]:
        """Return the container ports by name."""
        return {
            port["name"]: port["containerPort"]
            for container in self.containers
            for port in container.get("ports", [])
        }


def pods(manifests: list[Tree]) -> list[Pod]:
    """Return one pod for each workload in the manifests."""
    documents = []
    for manifest in manifests:
        spec = manifest.get("spec", {})
        spec = spec.get("jobTemplate", manifest).get("spec", {})
        template = spec.get("jobTargetRef", spec).get("template")
        if template is not None:
            documents.append(Pod(manifest, template["metadata"]["labels"], template["spec"]))
    return documents


def of_kind(manifests: list[Tree], kind: str) -> list[Tree]:
    """Return the manifests of one kind."""
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def selects(selector: Tree, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects an object with these labels."""
    for name, value in selector.get("matchLabels", {}).items():
        if labels.get(name) != value:
            return False
    for expression in selector.get("matchExpressions", []):
        assert expression["operator"] == "In", "this reader knows no other"
        if labels.get(expression["key"]) not in expression["values"]:
            return False
    return True


def rules(manifests: list[Tree], pod: Pod, way: str) -> Iterator[Tree] | None:
    """Return the rules of the network policies that apply to a pod.

    Args:
        manifests: the rendered manifests.
        pod: the pod.
        way: "ingress" or "egress".

    Returns:
        The rules; None if no policy applies, so that all traffic is allowed.
    """
    kinds = of_kind(manifests, "NetworkPolicy")
    about = [kind["spec"] for kind in kinds if selects(kind["spec"]["podSelector"], pod.labels)]
    about = [spec for spec in about if way.title() in spec["policyTypes"]]
    if not about:
        return None
    return (rule for spec in about for rule in spec.get(way, []))
