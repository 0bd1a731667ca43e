"""A disk that is really full: nothing acknowledged is lost, nothing else is there; with room again it goes on."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILL = r"""
import sys
from pathlib import Path
from surefoot.errors import AppendFailed, JournalError
from surefoot.journal import open_journal

folder, name, durability = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
ballast, path = folder / "ballast", folder / name

def fill(free):
    "Leave `free` bytes on the disk."
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            file.truncate(max(file.tell() - file.tell() % 4096 - free, 0))

refusals = 0
for free in (0, 4096, 12288, 40960, 61440, 90112):
    for file in folder.iterdir():
        file.unlink()
    fill(free)
    journal = open_journal(path, durability=durability)
    acknowledged = 0
    try:
        for n in range(5000):
            journal.append_many([("note", {"n": n, "pad": "x" * (n * 37 % 700)})] * (1 + n % 3))
            acknowledged += 1 + n % 3
    except AppendFailed as error:
        assert "nothing was recorded" in str(error), error
        refusals += 1
    else:
        raise SystemExit("the disk was never full")
    assert len(journal) == acknowledged, (len(journal), acknowledged)
    assert journal.verify(), journal.verify()
    head = journal.head
    for again in range(3):
        try:
            journal.append("note", {"pad": "x" * 9000})
        except AppendFailed:
            assert journal.head == head
    head = journal.head
    if free == 12288:  # closed while the disk is full
        try:
            journal.close()
        except JournalError as error:
            assert "may lose its last entries" in str(error), error
        ballast.unlink()
        journal = open_journal(path, durability=durability)
    else:
        ballast.unlink()
    assert journal.head == head, (journal.head, head)
    journal.append("note", {"room": "again", "pad": "x" * 9000})
    new = journal.head
    journal.close()
    with open_journal(path) as journal:
        assert journal.verify(head=head) and journal.verify(head=new)
print(refusals)
"""
MOUNT = 'mount -t tmpfs -o size=160k tmpfs "$1" && exec "$2" "$3" "$1" "$4" "$5"'


@pytest.mark.parametrize("durability", ["normal", "full"])
@pytest.mark.parametrize("name", ["a.map", "a.json", "a.jsonl"])
def test_a_full_disk_loses_nothing_acknowledged(name: str, durability: str, tmp_path: Path) -> None:
    disk, script = tmp_path / "disk", tmp_path / "fill.py"
    disk.mkdir()
    script.write_text(FILL, encoding="utf-8")
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run(
            [unshare, "-m", "mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a disk of 160 kB needs `unshare -m mount`, which only root may do")
    command: list[str | Path] = [
        unshare,
        "-m",
        "sh",
        "-ec",
        MOUNT,
        "sh",
        disk,
        sys.executable,
        script,
        name,
        durability,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr
