"""Imports between the modules of this library: no cycle, neither at run time nor between types."""

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
