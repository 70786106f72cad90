"""Delays by airline, or by airport, as a table that changes while flights land.

    python delays.py ws://127.0.0.1:8080/bus
    python delays.py ws://127.0.0.1:8080/bus --by airport --until 500

Ctrl-C prints the last table and ends. Without a terminal only that table is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import eventbus
from eventbus.sync import connect

#: Seconds between two updates of the table.
REDRAW = 0.5
#: Minutes from which a flight is late.
LATE = 15
ROWS = 20


@dataclass
class Delays:
    flights: int = 0
    late: int = 0
    minutes: int = 0
    worst: int = 0

    def add(self, minutes: int) -> None:
        self.flights += 1
        self.late += minutes > LATE
        self.minutes += max(0, minutes)
        self.worst = max(self.worst, minutes)


@dataclass
class Report:
    by: str
    rows: dict[str, Delays] = field(default_factory=lambda: defaultdict(Delays))
    flights: int = 0
    missed: int = 0

    def add(self, flight: dict[str, Any]) -> None:
        self.flights += 1
        self.rows[flight["carrier"] if self.by == "airline" else flight["dest"]].add(flight["delay"])

    def on_gap(self, gap: eventbus.Gap) -> None:
        self.missed += gap.last - gap.first + 1

    def __str__(self) -> str:
        worst_first = sorted(self.rows.items(), key=lambda row: row[1].minutes / row[1].flights, reverse=True)
        lines = [f"{self.by:<8}{'flights':>9}{'late':>7}{'mean':>9}{'worst':>11}"]
        lines += [
            f"{name:<8}{one.flights:>9,}{one.late / one.flights:>7.0%}"
            f"{one.minutes / one.flights:>5.0f} min{one.worst:>7,} min"
            for name, one in worst_first[:ROWS]
        ]
        return "\n".join(lines + ([f"{self.missed:,} flights missed"] if self.missed else []))


def follow(url: str, report: Report, until: int | None) -> None:
    """Counts landing flights, up to ``until``."""
    live = sys.stdout.isatty()
    drawn = 0.0
    with connect(url, name="delays") as bus:
        bus.on_gap(report.on_gap)
        with bus.subscribe("flights.*.landed", overflow=eventbus.Overflow.DROP_OLDEST) as landed:
            # Lists cost less than one event at a time, and a busy bus fills them.
            for events in landed.batches():
                for event in events:
                    report.add(event.json())
                if live and time.monotonic() - drawn > REDRAW:
                    drawn = time.monotonic()
                    print(f"\x1b[H\x1b[2J{report}", flush=True)
                if until is not None and report.flights >= until:
                    break


def main() -> None:
    parser = argparse.ArgumentParser(description="Delays by airline or airport, live.")
    parser.add_argument("url", nargs="?", default="ws://127.0.0.1:8080/bus")
    parser.add_argument("--by", choices=["airline", "airport"], default="airline")
    parser.add_argument("--until", type=int, metavar="FLIGHTS", help="end when so many have landed")
    args = parser.parse_args()
    report = Report(args.by)
    try:
        follow(args.url, report, args.until)
    except KeyboardInterrupt:
        pass
    except eventbus.Error as error:
        sys.exit(f"delays: {error}")
    print(report if report.rows else "no flight has landed")


if __name__ == "__main__":
    main()
