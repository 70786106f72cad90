"""The programs of the documentation, which run as printed, but for the address of the bus."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import JAR, Process, resume_key

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PRINTED = "ws://localhost:8080/bus"

pytestmark = pytest.mark.skipif(not JAR, reason="EVENTBUS_JAR names no bus")


def programs() -> dict[str, str]:
    """The blocks in Python, by page and line; `python not-run` is another language."""
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("client-sdk/*/README.md"))]
    found = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if block[2] == "python":
                line = text.count("\n", 0, block.start()) + 1
                found[f"{page.relative_to(ROOT).as_posix()}:{line}"] = block[3]
    return found


PROGRAMS = programs()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[subprocess.CompletedProcess[str]]]]:
    """Runs all programs, two at a time, because each needs a moment to start."""
    directory = tmp_path_factory.mktemp("documents")
    bus = Process(
        directory,
        "admin.enabled=false",
        resume_key(directory),
        f"durable.directory={directory / 'data'}",
        # Topics of the programs that a journal has to store.
        "durable.journals=pages orders.> names.> images.>",
    )
    try:
        bus.ready()

        def run(name: str, program: str) -> subprocess.CompletedProcess[str]:
            file = directory / (re.sub(r"\W", "-", name) + ".py")
            file.write_text(program.replace(PRINTED, bus.url), encoding="utf-8")
            return subprocess.run(
                [sys.executable, str(file)], cwd=directory, capture_output=True, text=True, timeout=60
            )

        with ThreadPoolExecutor(2) as pool:
            yield {name: pool.submit(run, name, program) for name, program in PROGRAMS.items()}
    finally:
        bus.stop()


@pytest.mark.parametrize("name", PROGRAMS)
def test_ends_without_a_failure_or_a_warning(
    name: str, runs: dict[str, Future[subprocess.CompletedProcess[str]]]
) -> None:
    run = runs[name].result()
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
