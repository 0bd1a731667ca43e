"""The layout is tested, not described: each failure says which line to add where."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import runpy
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "surefoot"
REFERENCE = runpy.run_path(str(ROOT / "scripts" / "reference.py"))
MODULES = {
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}

HEAVY = [
    "numpy",
    "scipy",
    "gymnasium",
    "httpx",
    "rich",
    "click",
    "selectolax",
    "networkx",
    "cryptography",
    "hypothesis",
    "numba",
    "psycopg",
    "stormpy",
]
"""Never loaded by `import surefoot`."""
OPTIONAL = {
    "aalpy",
    "cryptography",
    "hypothesis",
    "jax",
    "networkx",
    "numba",
    "psycopg",
    "pytest",
    "stormpy",
    "stormvogel",
    "umbi",
}
"""What only an extra installs."""


def tree_of(module: str) -> ast.Module:
    tree = REFERENCE["tree_of"](MODULES[module])  # it has parsed them all, or will
    assert isinstance(tree, ast.Module)
    return tree


@cache
def public_names(module: str) -> list[str]:
    """Return the names in `__all__`, read from the source: nothing is imported."""
    for node in tree_of(module).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node, ast.Assign | ast.AnnAssign):
            assert node.value is not None
            return list(ast.literal_eval(node.value))
    return []


def docstrings(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield (name, docstring) of what a module defines; a constant's docstring is the text on the line after it."""
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, ast.get_docstring(node) or ""
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            text = after.value if isinstance(after, ast.Expr) else None
            if isinstance(target, ast.Name):
                yield target.id, text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else ""
        elif isinstance(node, ast.If | ast.Try):
            yield from docstrings([*node.body, *node.orelse])


@cache
def passed_on(module: str) -> dict[str, str]:
    """Return {name: the surefoot module it is imported from}: its docstring is checked there."""
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("surefoot")
        for alias in node.names
    }


@cache
def imports(module: str) -> tuple[tuple[str, int, bool], ...]:
    """Return (package imported, line, whether it happens when the module is loaded) for each import."""

    def walk(node: ast.AST, at_load: bool) -> Iterator[tuple[str, int, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name.partition(".")[0], child.lineno, at_load
            elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
                yield child.module.partition(".")[0], child.lineno, at_load
            elif isinstance(child, ast.expr) or (
                isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            ):
                continue
            else:
                function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
                yield from walk(child, at_load and not function)

    return tuple(walk(tree_of(module), True))


def files_of_the_repo() -> Iterator[Path]:
    made = {"site", "dist", "demo", "__pycache__", "results"}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in made and (not name.startswith(".") or name == ".ci")]
        yield from (Path(folder, name) for name in names if not name.endswith(".pyc") and not name.startswith(".cov"))


def test_every_module_says_what_is_public() -> None:
    silent = []
    for module in MODULES:
        code = [
            node
            for node in tree_of(module).body
            if not (isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__"))
        ]
        assigned = [node for node in code if isinstance(node, ast.Assign | ast.AnnAssign)]
        targets = [node.targets[0] if isinstance(node, ast.Assign) else node.target for node in assigned]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if "__all__" not in names and (code or MODULES[module].name != "__init__.py"):
            silent.append(module)
    assert not silent, f"add `__all__ = [...]` to these modules: {silent}"


def test_every_public_name_has_a_docstring_with_an_example() -> None:
    wrong = [mend for module in MODULES for mend in mends_of_docstrings(module)]
    assert not wrong, "\n".join(wrong)


def mends_of_docstrings(module: str) -> Iterator[str]:
    """Say what to add where a module or one of its public names has no docstring, or the name no example."""
    if not ast.get_docstring(tree_of(module)):
        yield f"{module} has no docstring: one sentence that says what it is for"
    if "._" in module:  # what a private module shows to its neighbours is not public
        return
    told, elsewhere = dict(docstrings(tree_of(module).body)), passed_on(module)
    for name in public_names(module):
        if name in elsewhere:
            home = elsewhere[name]
            if home not in MODULES:
                yield f"{module}.{name} is imported from {home}, which is not there"
            elif name not in public_names(home):
                yield f"add {name!r} to __all__ of {home}: {module} passes it on"
        elif ">>>" not in told.get(name, ""):
            yield f"add a docstring with an `Example:` (a doctest) to {name!r} of {module}"


def test_every_module_has_its_test_file() -> None:
    public = [path for name, path in MODULES.items() if path.name != "__init__.py" and "._" not in name]
    mirrors = [Path("tests", path.relative_to(SOURCE).parent, f"test_{path.name}") for path in public]
    missing = [mirror.as_posix() for mirror in mirrors if not (ROOT / mirror).is_file()]
    assert not missing, f"tests mirror src; add these files: {missing}"


def test_every_test_file_has_its_module() -> None:
    """`test_<module>.py`, or `test_<module>_<aspect>.py` where one file would be too long."""
    known = {
        Path("tests", path.relative_to(SOURCE).parent, f"test_{path.stem}").as_posix() for path in MODULES.values()
    }
    orphans = [
        test
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.parent != ROOT / "tests" and (SOURCE / path.parent.relative_to(ROOT / "tests")).is_dir()
        for test in [path.relative_to(ROOT).with_suffix("").as_posix()]
        if not any(f"{test}_".startswith(f"{name}_") for name in known)
    ]
    assert not orphans, f"no module has the name of these test files; move or rename them: {orphans}"


def test_optional_packages_are_imported_at_use() -> None:
    early = [
        f"{module}, line {line}: {package}"
        for module in MODULES
        for package, line, at_load in imports(module)
        if at_load and package in OPTIONAL
    ]
    assert not early, f"what only an extra installs is imported when a module is loaded; import it at use: {early}"


@pytest.mark.parametrize("package", sorted(OPTIONAL))
def test_optional_packages_have_one_home(package: str) -> None:
    users = {m for m in MODULES if not m.startswith("surefoot.testing") and package in {p for p, _, _ in imports(m)}}
    assert len(users) <= 1, f"{package} is imported by {sorted(users)}: let one of them do it"


def test_public_names_are_sorted_and_lead_somewhere() -> None:
    assert surefoot.__all__ == sorted(surefoot.__all__)
    assert set(surefoot.__all__) <= set(dir(surefoot))
    for name in surefoot.__all__:
        value = getattr(surefoot, name)
        home = importlib.import_module(passed_on("surefoot")[name])
        assert value is getattr(home, name)
    with pytest.raises(AttributeError, match="module 'surefoot' has no attribute 'nowhere'"):
        surefoot.nowhere  # type: ignore[attr-defined]  # noqa: B018  # not there


def test_the_lazy_table_and_the_type_checkers_imports_agree() -> None:
    homes = vars(surefoot)["_HOMES"]
    assert homes == passed_on("surefoot")
    assert list(homes) == surefoot.__all__


def test_importing_surefoot_is_cheap_and_loads_nothing_optional() -> None:
    script = (
        "import sys, time; start = time.process_time(); import surefoot; spent = time.process_time() - start\n"
        f"import json; print(json.dumps([spent, sorted(set({HEAVY!r}) & set(sys.modules))]))"
    )
    runs = [
        json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    assert runs[0][1] == [], f"`import surefoot` loads {runs[0][1]}"
    cheapest = min(spent for spent, _ in runs)
    assert cheapest < 0.1, f"`import surefoot` takes {cheapest * 1000:.0f} ms of CPU, 100 are allowed"


def test_no_file_names_a_machine_or_a_package_host() -> None:
    hosts = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "debian" + ".org/debian"]
    paths = ["/wo" + "rk/", "/ro" + "ot/", "/Use" + "rs/", "/opt/whe" + "els", ".py" + "env/", "../sha" + "red"]
    here = socket.gethostname()
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in files_of_the_repo()
        for word in [*hosts, *paths, *([here] if len(here) > 8 else [])]
        if word.encode() in path.read_bytes()
    ]
    assert not found, f"a clone elsewhere has no use for these: {found}"


def test_every_public_module_has_its_place_in_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert REFERENCE["main"](["--check"]) == 0, capsys.readouterr().out


def test_the_menu_lists_every_page_and_the_pages_only_what_is_there() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT / "docs").as_posix()
        assert f" {page}\n" in menu, f"add {page} to `nav` in mkdocs.yml"
        for module in re.findall(r"^::: (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert module in MODULES, (
                f"docs/{page} lists {module}, which is not there: run `python scripts/reference.py`"
            )
