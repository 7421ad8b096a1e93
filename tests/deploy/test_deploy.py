"""Files of `deploy/`, checked by third-party schemas, by the project's own parser, and with a real
nginx."""

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import click
import httpx2
import kubernetes_validate
import pytest
import typer
import yaml
from compose_spec import PyCompose

from verigym import Task
from verigym.cli.main import app
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
VERSION = "1.32"
COMPOSE = (DEPLOY / "compose.yaml").read_text()
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
KEY = "correct-horse-battery"


def documents(text):
    return [document for document in yaml.safe_load_all(text) if document]


def rendered():
    """All of the cluster, as kustomize makes it; skipped where there is no kubectl."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not on PATH")
    done = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return documents(done.stdout)


def manifests():
    paths = [p for p in KUBERNETES.rglob("*.yaml") if p.name != "kustomization.yaml"]
    return [document for path in sorted(paths) for document in documents(path.read_text())]


def services():
    """Return the project's own services in the compose file, by name."""
    found = yaml.safe_load(COMPOSE)["services"]
    return {name: service for name, service in found.items() if name != "proxy"}


def served(args):
    """Settings as `verigym serve ARGS` would have them; fails where an option is unknown."""
    serve = typer.main.get_command(app).commands["serve"]
    values = serve.make_context("serve", list(args)).params
    globs = ",".join(values["verifiers"] or ["*"]).split(",")
    envs = ",".join(values["envs"] or []).split(",")
    chosen = ServerSettings(
        verifiers=tuple(glob for glob in globs if glob not in ("", "none")),
        envs=tuple(glob for glob in envs if glob),
    )
    chosen.verifier_ids()
    chosen.env_ids()
    assert values["keys"], "a service that others reach needs keys"
    return values


def test_every_manifest_fits_the_schema_of_kubernetes():
    found = manifests()
    for document in found:
        kubernetes_validate.validate(document, VERSION, strict=True)
    kinds = {document["kind"] for document in found}
    assert kinds >= {
        *("Deployment", "Service", "HorizontalPodAutoscaler", "NetworkPolicy"),
        *("PodDisruptionBudget", "Namespace", "Ingress"),
    }


def test_the_schema_would_notice():
    deployment = next(d for d in manifests() if d["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container["readynessProbe"] = container.pop("readinessProbe")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, VERSION, strict=True)


def test_what_kustomize_makes_fits_together():
    found = rendered()
    for document in found:
        kubernetes_validate.validate(document, VERSION, strict=True)
    by_kind = {}
    for document in found:
        by_kind.setdefault(document["kind"], {})[document["metadata"]["name"]] = document
    deployments = by_kind["Deployment"]
    assert set(deployments) == {"verigym-math", "verigym-sql", "verigym-text"}
    names = set(by_kind["Service"])
    for name, deployment in deployments.items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        for kind, path in (
            ("Service", ("selector",)),
            ("PodDisruptionBudget", ("selector", "matchLabels")),
            ("NetworkPolicy", ("podSelector", "matchLabels")),
        ):
            selector = by_kind[kind][name]["spec"]
            for key in path:
                selector = selector[key]
            assert selector.items() <= labels.items()
            others = [d for other, d in deployments.items() if other != name]
            for other in others:
                chosen = other["spec"]["template"]["metadata"]["labels"]
                assert not selector.items() <= chosen.items(), f"{kind} {name} takes others, too"
        scaler = by_kind["HorizontalPodAutoscaler"][name]["spec"]
        assert scaler["scaleTargetRef"]["name"] == name
        metric = scaler["metrics"][0]["pods"]["metric"]["name"]
        assert metric in (DEPLOY / "prometheus-adapter.yaml").read_text()
        assert metric in (DEPLOY.parent / "server" / "metrics.py").read_text()
        served(deployment["spec"]["template"]["spec"]["containers"][0]["args"])
    for path in by_kind["Ingress"]["verigym"]["spec"]["rules"][0]["http"]["paths"]:
        assert path["backend"]["service"]["name"] in names


def test_pods_are_restricted_and_bounded():
    (deployment,) = (d for d in manifests() if d["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    safe = container["securityContext"]
    assert safe["allowPrivilegeEscalation"] is False
    assert safe["readOnlyRootFilesystem"] is True
    assert safe["capabilities"] == {"drop": ["ALL"]}
    assert set(container["resources"]) == {"requests", "limits"}
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + ServerSettings.drain_s
    mode = pod["volumes"][1]["secret"]["defaultMode"]
    assert not mode & 0o027, "the service refuses a file of keys that others can read"


def test_the_compose_file_is_one():
    plain = yaml.safe_load(COMPOSE)  # the parser knows no merge keys
    compose = PyCompose.from_yaml(yaml.safe_dump(plain))
    assert set(compose.service_names()) == {*services(), "proxy"}
    plain["services"]["math"]["red_only"] = True
    with pytest.raises(ValueError, match="red_only"):
        PyCompose.from_yaml(yaml.safe_dump(plain))


def test_services_of_the_compose_file_are_confined_and_can_be_started():
    for name, service in services().items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["user"].split(":")[0] != "0"
        assert {"mem_limit", "pids_limit", "cpus"} <= set(service)
        assert "ports" not in service, "only the proxy is reached from outside"
        served(service["command"])


def test_the_image_runs_as_nobody_in_particular():
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE, re.MULTILINE)
    assert len(stages) == 2
    assert stages[0][1] == "build"
    last = DOCKERFILE.rpartition("FROM ")[2]
    assert re.search(r"^USER 65532:65532$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last
    assert "--constraint constraints.txt" in DOCKERFILE
    assert "latest" not in DOCKERFILE + COMPOSE
    for instruction in ("ENTRYPOINT", "CMD"):
        (args,) = re.findall(rf"^{instruction} (\[.*\])$", last, re.MULTILINE)
        assert json.loads(args)
    entry = json.loads(re.findall(r"^ENTRYPOINT (\[.*\])$", last, re.MULTILINE)[0])
    command = json.loads(re.findall(r"^CMD (\[.*\])$", last, re.MULTILINE)[0])
    assert entry[1] == "serve"
    served([*entry[2:], *command])
    extras = re.findall(r"^ARG EXTRAS=(\S+)$", DOCKERFILE, re.MULTILINE)[0].split(",")
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)


def test_commands_of_the_readme_are_known():
    root = typer.main.get_command(app)
    text = (DEPLOY / "README.md").read_text()
    lines = re.findall(r"^\s*(?:sudo )?verigym (.*)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        args = shlex.split(line.partition("#")[0].partition(">")[0])
        command = root
        while isinstance(command, click.Group):
            command = command.commands[args.pop(0)]
        command.make_context("readme", args)


@pytest.fixture
def proxy(tmp_path):
    """nginx by our configuration, before two real services; gives its address."""
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        if os.environ.get("CI") == "true":
            pytest.fail("nginx is not on PATH, and CI needs it: apt-get install nginx-light")
        pytest.skip("nginx is not on PATH: apt-get install nginx-light")
    with (
        ServerProcess(verifiers=["math"], workers=1, key=KEY) as math,
        ServerProcess(
            verifiers=["games"], workers=1, key=KEY, options=["--envs", "games"]
        ) as games,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        port = listener.getsockname()[1]
        listener.close()
        conf = (DEPLOY / "nginx.conf").read_text()
        for name in ("math", "sql", "text", "games"):
            url = math.url if name == "math" else games.url
            conf = conf.replace(f"server {name}:8080;", f"server {url.removeprefix('http://')};")
        conf = conf.replace("listen 8080", f"listen 127.0.0.1:{port}")
        conf = conf.replace("/tmp/", f"{tmp_path}/").replace("/dev/stdout", f"{tmp_path}/access")
        path = tmp_path / "nginx.conf"
        path.write_text(f"daemon off;\nmaster_process off;\n{conf}")
        with subprocess.Popen([nginx, "-p", str(tmp_path), "-c", str(path)]) as process:
            try:
                yield wait_for(f"http://127.0.0.1:{port}", process), tmp_path
            finally:
                process.terminate()


def wait_for(url, process):
    while process.poll() is None:
        try:
            if httpx2.get(f"{url}/healthz").status_code == 200:
                return url
        except httpx2.ConnectError:
            time.sleep(0.02)  # nginx does not say when it listens
    raise AssertionError(f"nginx ended with {process.returncode}")


@pytest.mark.slow  # two services and nginx
def test_the_proxy_sends_each_family_to_its_service(proxy):
    url, folder = proxy
    task = Task(
        id="t",
        env_id="e",
        seed=1,
        prompt="p",
        difficulty="d",
        reference={"numbers": [1, 3, 7], "target": 21},
    )
    body = {
        "verifier": "math/countdown",
        "task": json.loads(task.to_json()),
        "submission": "<answer>3*7*1</answer>",
    }
    headers = {"Authorization": f"Bearer {KEY}", "X-Request-ID": "run-7"}
    with httpx2.Client(base_url=url, headers=headers, timeout=60) as http:
        judged = http.post("/math/v1/verify", json=body)
        assert judged.json()["score"] == 1.0, judged.text
        assert judged.headers["X-Request-ID"] == "run-7"
        refused = http.post("/games/v1/verify", json=body)
        assert refused.json()["error"]["code"] == "unknown_verifier"
        made = http.post("/games/v1/sessions", json={"env": "games/keydoor-v0"})
        assert made.status_code == 201
        sid = made.json()["sessions"][0]["session"]
        step = http.post(f"/games/v1/sessions/{sid}/step", json={"seq": 1, "action": "up"})
        assert step.json()["seq"] == 1
        page = http.get("/math/")
        assert 'src="page/page.js"' in page.text
        assert http.get("/math/page/page.js").status_code == 200
        assert http.get("/math/metrics").status_code == 404
        assert http.get("/nothing/v1/verify").status_code == 404
        assert http.get("/math/v1/verifiers", headers={"Authorization": ""}).status_code == 401
    assert sid not in (folder / "access").read_text()


def test_replicas_share_one_store_of_jobs():
    (deployment,) = (d for d in manifests() if d["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (store,) = (one for one in container["env"] if one["name"] == "VERIGYM_STORE")
    secret = store["valueFrom"]["secretKeyRef"]
    assert not secret.get("optional"), "without it each replica would have a store of its own"
    folders = [path.parent for path in KUBERNETES.glob("*/kustomization.yaml")]
    patches = [
        yaml.safe_load(patch["patch"])[0]["value"]
        for folder in folders
        for patch in yaml.safe_load((folder / "kustomization.yaml").read_text()).get("patches", ())
    ]
    assert len(patches) == 3
    for args in [container["args"], *patches]:
        assert served(args)["store"] == "env:VERIGYM_STORE"
    (policy,) = (d for d in manifests() if d["kind"] == "NetworkPolicy")
    ports = [port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]]
    assert sorted(ports) == [53, 53, 5432]
    extras = re.findall(r"^ARG EXTRAS=(\S+)$", DOCKERFILE, re.MULTILINE)[0].split(",")
    assert "postgres" in extras
    (ingress,) = (d for d in manifests() if d["kind"] == "Ingress")
    hashed = ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/upstream-hash-by"]
    assert hashed == "$http_authorization"


def test_images_are_pinned_by_what_the_registry_says(tmp_path):
    copy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copy)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    # A stand-in: no registry can be asked here.
    docker.write_text(
        '#!/bin/sh\n[ "$*" = "buildx imagetools inspect $4 --format {{.Manifest.Digest}}" ] || exit 1\n'
        'printf "sha256:%s\\n" "$(printf %s "$4" | sha256sum | cut -c1-64)"\n'
    )
    docker.chmod(0o755)
    env = {**os.environ, "PATH": f"{docker.parent}:{os.environ['PATH']}"}
    image = "registry.example.org/verigym:0.1.0"
    command = [sys.executable, str(copy / "pin_images.py"), "--image", image]
    for _ in range(2):  # pinning again renews the digests
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def pinned(name):
        return f"@sha256:{hashlib.sha256(name.encode()).hexdigest()}"

    python = re.findall(r"^ARG PYTHON=([^@\s]+)(\S*)$", (copy / "Dockerfile").read_text(), re.M)
    assert python[0][1] == pinned(f"python:{python[0][0]}")
    debian = re.findall(
        r"^ARG DEBIAN=([^@\s]+)(\S*)$", (copy / "sandbox.Dockerfile").read_text(), re.M
    )
    assert debian[0][1] == pinned(f"debian:{debian[0][0]}")
    proxy = yaml.safe_load((copy / "compose.yaml").read_text())["services"]["proxy"]["image"]
    assert proxy.endswith(pinned(proxy.partition("@")[0]))
    kustomization = yaml.safe_load((copy / "kubernetes" / "kustomization.yaml").read_text())
    (own,) = kustomization["images"]
    assert own["newName"] == "registry.example.org/verigym"
    assert f"@{own['digest']}" == pinned(image)
    docker.write_text("#!/bin/sh\necho no network >&2; exit 1\n")
    before = (copy / "Dockerfile").read_text()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no network" in done.stderr
    assert (copy / "Dockerfile").read_text() == before
