"""Every pod in the rendered chart has the guaranteed settings."""

from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import yaml

from arena.matches.lease_renewal import GRACE_SECONDS
from arena.remote import relay_url
from arena.services import metric_definitions, metrics_server
from arena.store.matches import lease_times
from arena.web.serving import uploads
from tests.deploy.command_lines import parsed_command, variables
from tests.deploy.kubernetes_api import served_secrets
from tests.deploy.manifests import (
    CHART,
    DEPLOY,
    Pod,
    Tree,
    of_kind,
    pods,
    render,
    rules,
    selects,
)

PROGRAMS_OF_OTHERS = {"services", "worker"}


def pod(manifests: list[Tree], component: str) -> Pod:
    return next(pod for pod in pods(manifests) if pod.component == component)


def test_no_pod_runs_as_root(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        security = each.spec["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & each.spec.keys()
        for container in each.containers:
            contained = container["securityContext"]
            assert contained["allowPrivilegeEscalation"] is False
            assert contained["readOnlyRootFilesystem"] is True
            assert contained["capabilities"] == {"drop": ["ALL"]}
            assert not {"privileged", "runAsUser", "seccompProfile"} & contained.keys()


def test_no_pod_has_a_token_or_a_folder_of_its_node(manifests: list[Tree]) -> None:
    accounts = of_kind(manifests, "ServiceAccount")
    assert [account["automountServiceAccountToken"] for account in accounts] == [False]
    for each in pods(manifests):
        assert each.spec["serviceAccountName"] == accounts[0]["metadata"]["name"]
        assert each.spec["automountServiceAccountToken"] is False
        assert each.spec["enableServiceLinks"] is False
        assert not any("hostPath" in volume for volume in each.spec["volumes"])


def test_every_container_has_limits_and_existing_volumes(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        volumes = {volume["name"] for volume in each.spec["volumes"]}
        for container in each.containers:
            assert container["resources"]["limits"]["memory"]
            assert container["resources"]["requests"]["cpu"]
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        for volume in each.spec["volumes"]:
            if "emptyDir" in volume:
                assert volume["emptyDir"]["sizeLimit"]


def test_disk_limits_cover_the_volumes_on_the_disk_of_the_node(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        on_disk = [
            bytes_of(volume["emptyDir"]["sizeLimit"])
            for volume in each.spec["volumes"]
            if volume.get("emptyDir", {}).get("medium") != "Memory" and "emptyDir" in volume
        ]
        for container in each.containers:
            resources = container["resources"]
            limit = bytes_of(resources["limits"]["ephemeral-storage"])
            assert limit > sum(on_disk)
            assert 0 < bytes_of(resources["requests"]["ephemeral-storage"]) <= limit


def bytes_of(quantity: str) -> int:
    return int(quantity[:-2]) << {"Mi": 20, "Gi": 30}[quantity[-2:]]


def test_pods_of_which_there_are_several_are_spread_over_nodes(manifests: list[Tree]) -> None:
    several = [each for each in pods(manifests) if each.component in ("worker", "web")]
    assert several
    for each in several:
        [constraint] = each.spec["topologySpreadConstraints"]
        assert constraint["topologyKey"] == "kubernetes.io/hostname"
        # A cluster with one node starts them too.
        assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
        chosen = [p for p in pods(manifests) if selects(constraint["labelSelector"], p.labels)]
        assert [p.component for p in chosen] == [each.component]


def test_priority_classes_are_those_of_the_values(helm: str, tmp_path: Path) -> None:
    manifests = render(helm, tmp_path, "--values", CHART / "ci" / "scaledjob-values.yaml")
    classes = {each.component: each.spec.get("priorityClassName") for each in pods(manifests)}
    assert classes == {"services": "arena", "web": None, "worker": "arena-bots", "backup": None}
    assert not any("priorityClassName" in each.spec for each in pods(render(helm, tmp_path)))


@pytest.mark.parametrize("mode", ["deployment", "scaledjob"])
def test_workers_of_two_releases_do_not_run_at_the_same_time(
    helm: str, tmp_path: Path, mode: str
) -> None:
    manifests = render(helm, tmp_path, "--set", f"worker.mode={mode}")
    spec = pod(manifests, "worker").owner["spec"]
    if mode == "deployment":
        assert spec["strategy"] == {"type": "Recreate"}
    else:
        # KEDA's default ends the jobs of the earlier release.
        assert spec["rollout"] == {"strategy": "default"}
    services = pod(manifests, "services")
    assert services.owner["spec"]["strategy"] == {"type": "Recreate"}
    [migrate] = services.spec["initContainers"]
    command, subcommand, option, seconds = migrate["args"]
    assert (command, subcommand, option) == ("db", "upgrade", "--wait")
    grace = pod(manifests, "worker").spec["terminationGracePeriodSeconds"]
    assert float(seconds) > grace + lease_times.LEASE_SECONDS


def test_a_job_backs_the_database_up(helm: str, tmp_path: Path) -> None:
    manifests = render(helm, tmp_path, "--set", "backup.keep=3")
    [job] = of_kind(manifests, "CronJob")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    backup = pod(manifests, "backup")
    [container] = backup.spec["containers"]
    folder = container["args"][2]
    assert container["args"] == ["db", "backup", folder, "--keep", "3"]
    [mount] = [each for each in container["volumeMounts"] if each["mountPath"] == folder]
    [volume] = [each for each in backup.spec["volumes"] if each["name"] == mount["name"]]
    claim = volume["persistentVolumeClaim"]["claimName"]
    claims = of_kind(manifests, "PersistentVolumeClaim")
    [kept] = [each for each in claims if each["metadata"]["name"] == claim]
    assert kept["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    without = render(helm, tmp_path, "--set", "backup.enabled=false")
    assert not of_kind(without, "CronJob")
    assert len(of_kind(without, "PersistentVolumeClaim")) == 1


def test_the_prometheus_operator_gets_the_alerts_and_their_target(
    helm: str, tmp_path: Path
) -> None:
    manifests = render(helm, tmp_path, "--values", CHART / "ci" / "scaledjob-values.yaml")
    [rule] = of_kind(manifests, "PrometheusRule")
    alerts = (DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8")
    assert rule["spec"] == yaml.safe_load(alerts)
    [monitor] = of_kind(manifests, "ServiceMonitor")
    [service] = [
        each
        for each in of_kind(manifests, "Service")
        if selects(monitor["spec"]["selector"], each["metadata"]["labels"])
        and "metrics" in {port["name"] for port in each["spec"]["ports"]}
    ]
    # An alert names this job.
    assert service["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "pokearena"
    assert [endpoint["port"] for endpoint in monitor["spec"]["endpoints"]] == ["metrics"]
    for each in (rule, monitor):
        assert each["metadata"]["labels"]["release"] == "prometheus"
    assert not of_kind(render(helm, tmp_path), "PrometheusRule")


def test_the_alerts_of_the_chart_are_a_link_to_the_only_file() -> None:
    link = CHART / "files" / "alerts.yaml"
    assert link.is_symlink()
    assert link.resolve() == DEPLOY / "prometheus" / "alerts.yaml"


@pytest.mark.long
def test_pods_restart_when_one_of_their_secrets_changes(helm: str, tmp_path: Path) -> None:
    secrets = {"pokearena": "1", "pokearena-objects": "1", "relay-tls": "1"}

    def checksums() -> dict[str, str]:
        with served_secrets(secrets) as url:
            manifests = render(
                helm,
                tmp_path,
                *("--values", CHART / "ci" / "scaledjob-values.yaml"),
                *("--dry-run=server", "--kube-apiserver", url),
            )
        return {
            each.component: each.annotations["checksum/secrets"]
            for each in pods(manifests)
            if each.component != "backup"
        }

    before = checksums()
    assert checksums() == before
    for name, affected in (
        ("pokearena", {"services", "web", "worker"}),
        ("pokearena-objects", {"services", "web", "worker"}),
        ("relay-tls", {"services"}),
    ):
        secrets[name] = "2"
        after = checksums()
        assert {each for each in before if after[each] != before[each]} == affected
        before = after


def test_network_policies_deny_by_default(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        for way in ("ingress", "egress"):
            allowed = rules(manifests, each, way)
            assert allowed is not None, f"{each.component} has no bounds of {way}"
            for rule in allowed:
                assert rule["ports"]
                assert all(port["protocol"] in ("TCP", "UDP") for port in rule["ports"])


def test_workers_reach_only_stores_and_dns_and_accept_no_connections(
    helm: str, tmp_path: Path
) -> None:
    manifests = render(helm, tmp_path)
    worker = pod(manifests, "worker")
    assert list(rules(manifests, worker, "ingress") or ()) == []
    reached = list(rules(manifests, worker, "egress") or ())
    assert [[port["port"] for port in rule["ports"]] for rule in reached] == [
        [6379],
        [5432],
        [53] * 2,
    ]
    assert all(rule["to"] for rule in reached)


def test_without_dns_workers_reach_only_the_configured_addresses(helm: str, tmp_path: Path) -> None:
    values = CHART / "ci" / "scaledjob-values.yaml"
    manifests = render(helm, tmp_path, "--values", values)
    reached = list(rules(manifests, pod(manifests, "worker"), "egress") or ())
    [relay_of_ours] = [rule for rule in reached if "podSelector" in rule["to"][0]]
    lines = [
        (peer["ipBlock"]["cidr"], rule["ports"][0]["port"])
        for rule in reached
        for peer in rule["to"]
        if rule is not relay_of_ours
    ]
    assert sorted(lines) == [
        ("10.0.0.5/32", 6380),
        ("10.0.0.6/32", 5432),
        ("198.51.100.7/32", 443),
        ("203.0.113.7/32", 9000),
    ]
    services = pod(manifests, "services")
    [peer] = relay_of_ours["to"]
    chosen = [each for each in pods(manifests) if selects(peer["podSelector"], each.labels)]
    assert [each.component for each in chosen] == ["services"]
    assert [port["port"] for port in relay_of_ours["ports"]] == [services.ports["workers"]]
    # Only workers may connect to this port.
    [entered] = [
        rule
        for rule in rules(manifests, services, "ingress") or ()
        if {"protocol": "TCP", "port": "workers"} in rule["ports"]
    ]
    chosen = [p for p in pods(manifests) if selects(entered["from"][0]["podSelector"], p.labels)]
    assert [each.component for each in chosen] == ["worker"]
    assert len(entered["from"]) == len(entered["ports"]) == 1
    # Web pods do not call bots.
    assert len(list(rules(manifests, pod(manifests, "web"), "egress") or ())) == 3


def test_redis_and_database_peers_cannot_be_empty(helm: str, tmp_path: Path) -> None:
    # A rule without peers would allow all of them.
    for store in ("redis", "database"):
        with pytest.raises(AssertionError, match="minItems"):
            render(helm, tmp_path, "--set-json", f"network.{store}.peers=[]")


def test_the_web_pods_accept_clients(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        entered = list(rules(manifests, each, "ingress") or ())
        ports = {port["port"] for rule in entered for port in rule["ports"]}
        assert ports == set(each.ports)


def test_selectors_match_their_pods(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        if each.owner["kind"] == "Deployment":
            selector = each.owner["spec"]["selector"]
            assert [p.component for p in pods(manifests) if selects(selector, p.labels)] == [
                each.component
            ]
    for budget in of_kind(manifests, "PodDisruptionBudget"):
        chosen = [p for p in pods(manifests) if selects(budget["spec"]["selector"], p.labels)]
        assert len(chosen) == 1
        assert chosen[0].owner["spec"]["replicas"] > 1
    for service in of_kind(manifests, "Service"):
        selector = {"matchLabels": service["spec"]["selector"]}
        [chosen_one] = [p for p in pods(manifests) if selects(selector, p.labels)]
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= set(chosen_one.ports)


def test_volume_claims_and_ingress_backends_exist(manifests: list[Tree]) -> None:
    names = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests}
    assert len(names) == len(manifests)
    for each in pods(manifests):
        for volume in each.spec["volumes"]:
            if "persistentVolumeClaim" in volume:
                claim = volume["persistentVolumeClaim"]["claimName"]
                assert ("PersistentVolumeClaim", claim) in names
    for ingress in of_kind(manifests, "Ingress"):
        for path in ingress["spec"]["rules"][0]["http"]["paths"]:
            assert ("Service", path["backend"]["service"]["name"]) in names


@pytest.mark.parametrize("root_path", ["", "/arena"])
def test_pushes_are_routed_to_the_submission_runner(
    helm: str, tmp_path: Path, root_path: str
) -> None:
    values = CHART / "ci" / "scaledjob-values.yaml"
    manifests = render(helm, tmp_path, "--values", values, "--set", f"rootPath={root_path}")
    [ingress] = of_kind(manifests, "Ingress")
    paths = {
        path["path"]: path["backend"]["service"]["name"]
        for path in ingress["spec"]["rules"][0]["http"]["paths"]
    }
    assert paths == {
        f"{root_path}{uploads.ADDRESS}": "arena-services",
        f"{root_path}{relay_url.PATH}": "arena-services",
        root_path or "/": "arena-web",
    }
    for component in ("services", "web"):
        words = pod(manifests, component).spec["containers"][0]["args"]
        settings = parsed_command(words, CHART / "Chart.yaml").params
        assert settings["root_path"] == root_path


def test_pods_have_time_to_release_their_match(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        assert each.spec["terminationGracePeriodSeconds"] >= 5 * GRACE_SECONDS


def test_the_arena_understands_every_command(manifests: list[Tree], tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.touch()
    for each in pods(manifests):
        for container in each.containers:
            parsed_command(container["args"], a_file)
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                probe_command = container.get(probe, {}).get("exec", {}).get("command", ["python"])
                if probe_command[0] != "python":
                    assert probe_command[0] == "pokearena"
                    parsed_command(probe_command[1:], a_file)


def test_an_unknown_flag_is_found(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException):
        parsed_command(["worker", "--bursts"], tmp_path)
    with pytest.raises(click.ClickException):
        parsed_command(["works"], tmp_path)


def test_the_arena_reads_every_variable(manifests: list[Tree]) -> None:
    for each in pods(manifests):
        for container in each.containers:
            names = {variable["name"] for variable in container.get("env", [])}
            assert names - {"TMPDIR", "POD_IP"} <= variables()
            if "POD_IP" in names:
                assert any("$(POD_IP)" in word for word in container["args"])


def test_private_folders_are_subfolders_of_mounts(manifests: list[Tree]) -> None:
    # Root owns a new volume, and another user cannot change its mode.
    for each in pods(manifests):
        for container in each.containers:
            mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
            for variable in container.get("env", []):
                if variable["name"] == "POKEARENA_DATA":
                    assert str(Path(variable["value"]).parent) in mounts


def test_manifests_reference_secrets_by_name_only(manifests: list[Tree]) -> None:
    assert not of_kind(manifests, "Secret")
    for each in pods(manifests):
        for container in each.containers:
            for variable in container.get("env", []):
                if variable["name"].endswith("_URL"):
                    assert variable["valueFrom"]["secretKeyRef"]["name"] == "pokearena"


def test_every_pod_has_the_object_storage_if_there_is_one(helm: str, tmp_path: Path) -> None:
    values = CHART / "ci" / "scaledjob-values.yaml"
    for each in pods(render(helm, tmp_path, "--values", values)):
        for container in each.containers:
            assert container["envFrom"] == [{"secretRef": {"name": "pokearena-objects"}}]
    for each in pods(render(helm, tmp_path)):
        assert not any("envFrom" in container for container in each.containers)


def test_every_pod_allows_the_packages_with_games_of_the_values(helm: str, tmp_path: Path) -> None:
    named = [{"name": "POKEARENA_GAMES", "value": "leduc-pokearena gin.games"}]
    for words, expected in ((("--set", "games={leduc-pokearena,gin.games}"), named), ((), [])):
        for each in pods(render(helm, tmp_path, *words)):
            for container in each.containers:
                variables = [each for each in container["env"] if each["name"] == "POKEARENA_GAMES"]
                assert variables == expected


def test_untrusted_programs_run_in_the_configured_runtime(helm: str, tmp_path: Path) -> None:
    manifests = render(helm, tmp_path, "--values", CHART / "ci" / "scaledjob-values.yaml")
    for each in pods(manifests):
        named = each.spec.get("runtimeClassName")
        assert (named == "gvisor") == (each.component in PROGRAMS_OF_OTHERS)


def test_scaled_jobs_follow_the_due_matches_of_the_arena_and_end(helm: str, tmp_path: Path) -> None:
    manifests = render(helm, tmp_path, "--set", "worker.mode=scaledjob")
    [scaled] = of_kind(manifests, "ScaledJob")
    [trigger] = scaled["spec"]["triggers"]
    assert trigger["metadata"]["valueLocation"] == metric_definitions.DUE_USUAL.name
    target = urlsplit(trigger["metadata"]["url"])
    [service] = [
        each
        for each in of_kind(manifests, "Service")
        if target.hostname == f"{each['metadata']['name']}.default.svc"
    ]
    assert {"name": "metrics", "port": target.port, "targetPort": "metrics"} in service["spec"][
        "ports"
    ]
    assert target.path == metrics_server.METRICS
    [policy] = [
        p for p in of_kind(manifests, "NetworkPolicy") if p["metadata"]["name"].endswith("-metrics")
    ]
    [rule] = policy["spec"]["ingress"]
    [peer] = rule["from"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "keda"}
    worker = pod(manifests, "worker")
    assert worker.spec["restartPolicy"] == "Never"
    assert worker.spec["containers"][0]["args"][:2] == ["worker", "--burst"]
    # The worker starts its own referee, so no other container keeps a finished job alive.
    assert "initContainers" not in worker.spec


@pytest.mark.parametrize(
    "wrong",
    [
        "worker.mode=daemonset",
        "worker.replica=3",
        "bots.sandbox=unsandboxed",
        "podSecurity.user=0",
        "worker.graceSeconds=1",
        "services.ingress.enabled=true",
        "rootPath=arena",
        "rootPath=/arena/",
        "services.metrics.operator.enabled=true",
        "backup.keep=0",
        "games={leduc-pokearena==1.2}",
    ],
)
def test_invalid_values_are_refused(helm: str, tmp_path: Path, wrong: str) -> None:
    with pytest.raises(AssertionError, match="values don't meet the specifications"):
        render(helm, tmp_path, "--set", wrong)
