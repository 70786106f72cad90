"""Buses of the jar in EVENTBUS_JAR, as processes."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

JAR = os.environ.get("EVENTBUS_JAR", "")


def resume_key(directory: Path) -> str:
    """Returns the setting that names the key of a bus; creates the key if there is none."""
    key = directory / "key"
    if not key.exists():
        key.write_bytes(os.urandom(32))
        key.chmod(0o600)
    return f"auth.resume-key-file={key}"


def free_ports(count: int) -> list[int]:
    """Returns ports for buses that are told each other's, or are started again at the same one.

    They lie below those that Linux gives to outgoing connections by itself: one of these could take a port before the bus does.
    """
    ports: list[int] = []
    for port in random.sample(range(15_000, 32_000), 100):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise OSError(f"free ports: {len(ports)} of 100 tried (expected: {count})")


class Process:
    """A bus, whose output is kept."""

    def __init__(self, directory: Path, *settings: str, port: int = 0) -> None:
        java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
        options = [x for s in settings for x in ("--set", s)]
        self.log = ""
        self._process = subprocess.Popen(
            [
                str(java),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                JAR,
                "serve",
                "--host",
                "127.0.0.1",
                "--port",
                str(port),
                *options,
            ],
            cwd=directory,
            # Variables with this prefix are configuration for a bus.
            env={k: v for k, v in os.environ.items() if not k.startswith("EVENTBUS_")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._ready = threading.Event()
        self.url = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.log = (self.log + line)[-20_000:]
            found = re.search(r"listens on (ws:[^, ]*)", line)
            if found:
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    def ready(self) -> None:
        assert self._ready.wait(60), self.log
        assert self.url, self.log

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(20)

    def stop(self) -> None:
        self.kill()
        self._reader.join(20)
        assert self._process.stderr is not None
        self._process.stderr.close()
