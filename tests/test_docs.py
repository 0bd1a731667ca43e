"""The code of the README and of every page runs, in order, one namespace and one folder a page.

- ```` ```python ````: executed; with `>>>` it is a doctest. With `title="lift.py"` it is also written to that file.
- ```` ```console ````: each line `$ command` runs; what is shown below it is compared (`...` stands for anything).
- anything else is shown only; `sh` and `bash` are refused, so that no command goes untested by its label.
"""

from __future__ import annotations

import doctest
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.doctest import DocTestEvaluator, OutputChecker
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from surefoot.cli import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md"] if path.exists()),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SHOWN_ONLY = {"", "css", "dot", "html", "ini", "json", "make", "markdown", "text", "toml", "yaml"}
FLAGS = doctest.ELLIPSIS
TELL = '; echo "exit code $?"'
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}

fences = RawFencedCodeBlockLexer(re.compile(r"(?P<language>[\w+-]*)(?P<options>[^\n]*)\n"))
run_python = PythonEvaluator()
doctests = DocTestStringParser(DocTestEvaluator(FLAGS))


def parse(document: Document) -> Iterable[Region]:
    """Yield what is to run in a page."""
    for block in fences(document):
        language, source = block.lexemes["language"], block.lexemes["source"]
        title = re.search(r'title="([^"]+)"', block.lexemes["options"])
        if language == "python" and source.startswith(">>>"):
            for region in doctests(source, document.path):
                region.adjust(block, source)
                yield region
        elif language == "python":
            block.parsed, block.evaluator = source, write_and_run if title else run_python
            block.lexemes["title"] = title and title[1]
            yield block
        elif language == "console":
            block.parsed, block.evaluator = source, run_console
            yield block
        elif language not in SHOWN_ONLY:
            where = document.line_column(block.start)
            raise ValueError(
                f"{document.path}, {where}: a block of {language!r} cannot be tested; use python or console"
            )


def write_and_run(example: Example) -> None:
    """Write a block that has a title to that file, and run it here too."""
    path = Path(example.region.lexemes["title"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(example.parsed, encoding="utf-8")
    run_python(example)


def run_console(example: Example) -> str:
    """Run each command of a block and compare what it prints; return what differs."""
    lines = example.parsed.splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    if not starts or starts[0] != 0:
        return "a console block starts with `$ command`"
    differences = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        command, want = lines[start][2:].strip(), "".join(lines[start + 1 : end]).rstrip() + "\n"
        if why := only_shown(command):
            differences.append("" if why == "ok" else why)
            continue
        code, got = run(command)
        shown = doctest.Example(command, want)
        if code != 0:
            differences.append(f"$ {command}\nexit code {code}:\n{got}")
        elif want != "\n" and not OutputChecker().check_output(want, got, FLAGS):
            differences.append(f"$ {command}\n" + OutputChecker().output_difference(shown, got, FLAGS))
    return "\n".join(filter(None, differences))


def run(command: str) -> tuple[int, str]:
    """Run a command as a reader would, with this environment's programs first; return (exit code, what it printed).

    `surefoot` alone runs in this process, which has loaded it: tests/cli run it in processes of its own. So does a file
    that is given to `python` alone, with modules of the page that are its own.
    """
    alone = command.removesuffix(TELL)
    first, *words = shlex.split(alone)
    here = {"surefoot": main, "python": run_file if words[:1] and words[0].endswith(".py") else None}.get(first)
    if here is not None and not set(re.sub("'[^']*'", "", alone)) & set(";|&<>$`"):
        said = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(said):
            for name, value in PLAIN.items():
                patch.setenv(name, value)
            code = here(words)
        return (code, said.getvalue()) if alone == command else (0, f"{said.getvalue()}exit code {code}\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    env |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}", **PLAIN}
    env |= {"PYTHONPATH": os.curdir, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # ours, not a reader's
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def run_file(words: list[str]) -> int:
    """Run a file as `python` does, its own folder's modules loaded anew; return its exit code."""
    folder, loaded = Path.cwd(), dict(sys.modules)
    drop_modules_in(folder)
    importlib.invalidate_caches()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", list(words))
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except Exception:
            traceback.print_exc()
            return 1
        finally:
            drop_modules_in(folder)
            sys.modules |= {name: module for name, module in loaded.items() if name not in sys.modules}
    return 0


def drop_modules_in(folder: Path) -> None:
    """Let what a page wrote be imported anew: what it wrote over, and another page's file of the same name."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
            del sys.modules[name]


def only_shown(command: str) -> str:
    """Check a set-up command without running it: "ok", what is wrong with it, or "" when it is to be run."""
    first, *rest = command.split("#")[0].split()
    if first == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        return "ok" if set(rest) <= set(targets) else f"$ {command}\nthe Makefile has no such target; it has {targets}"
    if command.startswith("pip install"):
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
        asked = {extra for group in re.findall(r"surefoot\[([^\]]*)\]", command) for extra in group.split(",")}
        return (
            "ok" if asked <= set(extras) else f"$ {command}\npyproject.toml has no such extra; it has {sorted(extras)}"
        )
    if command.startswith(("git clone ", "cd surefoot", "scripts/")):
        script = ROOT / first
        return "ok" if not first.startswith("scripts/") or script.is_file() else f"$ {command}\nthere is no {first}"
    return ""


def evaluate(page: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    """Run a page in `folder`; return how many examples it has."""
    document = Sybil([parse]).parse(page)
    module = ModuleType("page")
    document.namespace = vars(module)
    monkeypatch.setitem(sys.modules, "page", module)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    examples = list(document.examples())
    try:
        for example in examples:
            example.evaluate()
    finally:
        drop_modules_in(folder)
    return len(examples)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_code_of_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evaluate(page, monkeypatch, tmp_path)


GOOD = """
```python title="lift.py"
floors = 3
```
```python
from dataclasses import dataclass
import lift
@dataclass
class Lift:
    floors: "int" = lift.floors
```
```python
>>> Lift()
Lift(floors=...)
```
```console
$ make test
$ pip install 'surefoot[seal]'
$ python -c "import lift; print('floors:', lift.floors)"; echo "$?"
floors: ...
0
```
```text
not run
```
"""


def test_a_page_whose_code_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(GOOD)
    assert evaluate(tmp_path / "page.md", monkeypatch, tmp_path) == 4


@pytest.mark.parametrize(
    ("block", "says"),
    [
        ("```python\nassert 1 == 2\n```", "^$"),
        ("```python\n>>> 1 + 1\n3\n```", "Got:\n *2"),
        ("```console\n$ echo hall\nattic\n```", "Got:\n *hall"),
        ("```console\n$ false\n```", "exit code 1"),
        ("```console\n$ make coffee\n```", "no such target"),
        ("```console\n$ pip install 'surefoot[tea]'\n```", "no such extra"),
        ("```console\n$ scripts/nothing\n```", "there is no scripts/nothing"),
        ("```console\necho hall\n```", "starts with"),
        ("```bash\necho hall\n```", "cannot be tested"),
    ],
)
def test_a_page_whose_code_does_not_hold(
    block: str, says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text(f"# Page\n\n{block}\n")
    with pytest.raises((AssertionError, ValueError), match=says):
        evaluate(tmp_path / "page.md", monkeypatch, tmp_path)
