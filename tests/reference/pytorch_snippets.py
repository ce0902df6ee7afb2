# SPDX-License-Identifier: MIT
"""Runs the PyTorch programs that the Encodings page offers (web/src/encodings/pytorch) and compares what they print with
the fingerprints of the core (fingerprints.json beside this file, which a test of the page keeps true).

    python3 tests/reference/pytorch_snippets.py        needs torch; prints a line a program; status 1 when one differs
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "web/src/encodings/pytorch"
# The core rounds to float32 once; a program that computes in float32 throughout may differ in the last printed digits.
TOLERANCE = 5e-6


def largest_difference(program: pathlib.Path, expected: list[float]) -> float:
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    printed = [float(word) for word in run.stdout.split()]
    if len(printed) != len(expected):
        raise ValueError(f"{len(printed)} numbers instead of {len(expected)}")
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(printed, expected))


def main() -> int:
    fingerprints = json.loads((HERE / "fingerprints.json").read_text())
    failed = 0
    for program in sorted(PROGRAMS.glob("*.py")):
        expected = [float(word) for word in fingerprints[program.stem].split()]
        try:
            difference = largest_difference(program, expected)
            passed, said = difference <= TOLERANCE, f"largest difference {difference:.1e}"
        except (subprocess.CalledProcessError, ValueError) as error:
            passed, said = False, getattr(error, "stderr", "") or str(error)
        failed += not passed
        print(f"{'pass' if passed else 'FAIL'}  {program.stem}: {said}")
    print(f"{len(list(PROGRAMS.glob('*.py'))) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
