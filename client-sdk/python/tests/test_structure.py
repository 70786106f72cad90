"""Imports between the modules of this library: no cycle, and between its packages only what the table allows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
#: From each private package to those that it may import, types included. Public modules may import all.
ALLOWED: dict[str, set[str]] = {
    "_wire": set(),
    "_api": {"_wire"},
    "_base": {"_api", "_wire"},
    "_outbound": {"_base", "_api", "_wire"},
    "_inbound": {"_base", "_api", "_wire"},
    "_calls": {"_base", "_api", "_wire"},
    "_durable": {"_base", "_api", "_wire"},
    "_connection": {"_calls", "_durable", "_inbound", "_outbound", "_base", "_api", "_wire"},
    "_aio": {"_connection", "_calls", "_durable", "_inbound", "_outbound", "_base", "_api", "_wire", "_version"},
    "_sync": {"_aio", "_inbound", "_outbound", "_api", "_wire"},
    "_version": set(),
}
#: Private packages that do I/O or know a clock.
WITH_IO = {"_aio", "_sync"}


@dataclass(frozen=True)
class Import:
    """An import of an own module; ``typing``: under TYPE_CHECKING, so that it does not run."""

    module: str
    line: int
    typing: bool


def imports(name: str) -> Iterator[Import]:
    """Finds the own modules that a module imports, also inside of functions."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]

    def modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            return
        parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
        source = ".".join([*parts, *([node.module] if node.module else [])])
        # "from . import name" imports a module or a name of the package.
        yield from (n if (n := f"{source}.{alias.name}") in MODULES else source for alias in node.names)

    def visit(node: ast.AST, typing: bool) -> Iterator[Import]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (Import(m, node.lineno, typing) for m in modules(node) if m in MODULES and m != name)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (found for child in node.body for found in visit(child, True))
            yield from (found for child in node.orelse for found in visit(child, typing))
        else:
            yield from (found for child in ast.iter_child_nodes(node) for found in visit(child, typing))

    yield from visit(ast.parse(MODULES[name].read_text(encoding="utf-8")), False)


IMPORTS = {name: tuple(imports(name)) for name in sorted(MODULES)}


def cycles(typing: bool) -> list[list[str]]:
    """Returns the modules that import each other (strongly connected components: Tarjan, 1972)."""
    numbers = count()
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = next(numbers)
        stack.append(name)
        for imported in IMPORTS[name]:
            if imported.typing and not typing:
                continue
            if imported.module not in number:
                visit(imported.module)
                low[name] = min(low[name], low[imported.module])
            elif imported.module in stack:
                low[name] = min(low[name], number[imported.module])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in IMPORTS:
        if name not in number:
            visit(name)
    return found


def test_no_cycle_of_imports_runs() -> None:
    assert cycles(typing=False) == []


def test_no_cycle_of_imports_for_types() -> None:
    assert cycles(typing=True) == []


def package_of(name: str) -> str:
    """Returns the part of a module's name below ``eventbus``; empty for a public module."""
    part = f"{name}.".split(".")[1]
    return part if part.startswith("_") else ""


def test_packages_import_what_the_table_allows() -> None:
    arrows = {
        (package_of(name), package_of(imported.module)): f"{name}:{imported.line} imports {imported.module}"
        for name in IMPORTS
        for imported in IMPORTS[name]
        if package_of(name)
    }
    allowed = {(source, target) for source, targets in ALLOWED.items() for target in targets}
    assert [text for (s, t), text in arrows.items() if s != t and (s, t) not in allowed] == []
    assert allowed - set(arrows) == set(), "the table allows what nothing needs"


def test_each_private_module_is_in_a_package_of_the_table() -> None:
    assert {package_of(name) for name in MODULES} == {"", *ALLOWED}
    for package in ALLOWED.keys() - {"_version"}:
        [text] = ast.parse(MODULES[f"eventbus.{package}"].read_text(encoding="utf-8")).body
        assert isinstance(text, ast.Expr), f"{package}/__init__.py has more than a docstring"


def test_the_core_imports_no_io_and_no_clock() -> None:
    forbidden = {"asyncio", "time", "random", "websockets", "threading", "socket", "os"}
    # A buffer has a lock, because threads of the synchronous variant read it.
    excepted = {"eventbus._inbound.buffer imports threading"}
    found = []
    for name in MODULES:
        if package_of(name) in ALLOWED.keys() - WITH_IO:
            for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                found += [f"{name} imports {n}" for n in names if n.split(".")[0] in forbidden]
    assert set(found) == excepted


def test_imports_are_at_the_top() -> None:
    inside = [
        f"{name}:{node.lineno}"
        for name, path in MODULES.items()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert inside == []
