"""What each extra of nlgauge installs, as pip resolves it: the list that tests/test_extras.py holds extras against.

    python recipes/tools/extras.py                  # writes tests/golden/extras.json; needs the network, minutes
    python recipes/tools/extras.py --extra neural   # anew for one extra

Source archives are refused, since their build runs code of strangers; `rouge-score` for developers has no wheel.
Read what comes in before you commit it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "golden" / "extras.json"
OF_THEIR_OWN = ("inspect",)  # it wants older versions than constraints.txt has; its tests have their own environment


def resolved(extra: str) -> list[str]:
    """Names of all packages that come with an extra, without nlgauge."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    command += ["--only-binary=:all:", *(["--no-binary=rouge-score"] if extra == "dev" else [])]
    if extra not in OF_THEIR_OWN:
        command += ["-c", str(ROOT / "constraints.txt")]
    command.append(f"{ROOT}[{extra}]")
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    names = {re.sub(r"[-_.]+", "-", part["metadata"]["name"]).lower() for part in report["install"]}
    return sorted(names - {"nlgauge"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", action="append")
    asked = parser.parse_args().extra
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    packages = {e: resolved(e) if e in (asked or extras) else known[e].split() for e in sorted(extras)}
    lines = (f"{json.dumps(extra)}: {json.dumps(' '.join(names))}" for extra, names in packages.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
