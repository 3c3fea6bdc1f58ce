"""``python -m tests.fuzz``: a long run, in processes of their own so that a crash is one outcome.

Prints every disagreement, then counts by outcome and by feature; or those of earlier logs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import click

from tests.fuzz.counts import Counts

AT_ONCE = 8
"""Programs that are compiled together."""
A_PROCESS = 64
"""Programs that one process tries."""
SECONDS = 120
"""Of CPU that a process may take over programs compiled together; only against hanging."""
_LOG = click.Path(dir_okay=False, path_type=Path)
_EARLIER = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--programs", default=200, help="How many to try.")
@click.option("--seed", default=0, help="Of the first program; the others follow.")
@click.option("--passes", default="ours", help="As in tl.ascend_sched.passes; or stock, or mixed.")
@click.option("--mutants", default=0, help="Changed kernels to try for each program.")
@click.option("--log", type=_LOG, help="Also append outcomes, as JSON lines.")
@click.option("--sum", "logs", multiple=True, type=_EARLIER, help="Only count what these logs say.")
@click.option("--small", is_flag=True, help="Show the smallest program with the seed's outcome.")
@click.option("--worker", default=0, hidden=True, help="Be a process that tries as many at once.")
def main(
    programs: int,
    seed: int,
    passes: str,
    mutants: int,
    log: Path | None,
    logs: tuple[Path, ...],
    small: bool,
    worker: int,
) -> None:
    """Try random kernels and compare what the check, the emulator and numpy say."""
    if small:
        return _show_small(seed, passes)
    if worker:
        return _work(range(seed, seed + programs), passes, mutants, worker)
    from tests.fuzz.judge import AGREED, UNDECIDED

    counts = Counts()
    if logs:
        for line in (json.loads(text) for each in logs for text in each.read_text().splitlines()):
            counts.add(line)
            if line["kind"] not in (*AGREED, *UNDECIDED):
                print(f"{line['name']} ({line['passes']}): {line['kind']}")
        return print(counts.table())
    for line in _outcomes(range(seed, seed + programs), passes, mutants):
        counts.add(line)
        if line["kind"] not in AGREED:
            words = f"{line['name']} ({line['passes']}): {line['kind']}\n{line['detail']}"
            print(words, flush=True)
        if log is not None:
            with log.open("a") as file:
                file.write(json.dumps(line) + "\n")
    print(f"\n{counts.table()}")


def _outcomes(seeds: range, passes: str, mutants: int) -> Iterator[dict[str, Any]]:
    """Of all programs. Those at which a process dies are tried again one by one."""
    at = seeds.start
    while at < seeds.stop:
        part = range(at, min(at + A_PROCESS, seeds.stop))
        at, died = yield from _process(part, passes, mutants, AT_ONCE)
        if died:
            again = range(at, min(at + AT_ONCE, seeds.stop))
            for seed in again:
                _, died = yield from _process(range(seed, seed + 1), passes, mutants, 1)
                if died:
                    name = f"k{seed}"
                    what = {"kind": "no end", "detail": died, "features": []}
                    yield {"name": name, "passes": passes, **what}
            at = again.stop


def _process(
    seeds: range, passes: str, mutants: int, at_once: int
) -> Generator[dict[str, Any], None, tuple[int, str]]:
    """Outcomes of one process; returns the seed to go on with, and its last words if it died."""
    command = [sys.executable, "-m", "tests.fuzz", "--worker", str(at_once)]
    command += ["--seed", str(seeds.start), "--programs", str(len(seeds))]
    command += ["--passes", passes, "--mutants", str(mutants)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    at, other = seeds.start, ""
    assert process.stdout is not None
    for text in process.stdout:
        if text.startswith('{"next'):
            line = json.loads(text)
            at = line.pop("next")
            yield from line["outcomes"]
        else:
            other = (other + text)[-2000:]
    if process.wait() == 0 and at == seeds.stop:
        return at, ""
    words = " | ".join(other.strip().splitlines()[-3:])
    return at, f"the process ended with status {process.returncode}: {words}"


def _work(seeds: range, passes: str, mutants: int, at_once: int) -> None:
    warnings.simplefilter("ignore")
    import tilelang_ascend_sched  # noqa: F401  # puts TileLang's own TVM on the path
    from tests.fuzz.features import features
    from tests.fuzz.generate import generate
    from tests.fuzz.judge import judge
    from tests.fuzz.lowering import MIXED, mixture, ours

    with tempfile.TemporaryDirectory() as folder:
        for first in range(seeds.start, seeds.stop, at_once):
            # Native code that does not come back ends the process.
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            part = range(first, min(first + at_once, seeds.stop))
            programs = [generate(each, ours(passes)) for each in part]
            outcomes = [
                {
                    "name": outcome.program.name,
                    "passes": mixture(outcome.program.name) if passes == MIXED else passes,
                    "kind": outcome.kind,
                    "detail": outcome.detail,
                    "features": [] if outcome.mutant else sorted(features(outcome.program)),
                }
                for outcome in judge(programs, Path(folder), passes, mutants)
            ]
            print("\n" + json.dumps({"next": part.stop, "outcomes": outcomes}), flush=True)


def _show_small(seed: int, passes: str) -> None:
    import tilelang_ascend_sched  # noqa: F401  # as above
    from tests.fuzz.generate import generate
    from tests.fuzz.judge import Outcome, judge
    from tests.fuzz.lowering import ours
    from tests.fuzz.model import Program
    from tests.fuzz.shrink import shrink
    from tests.fuzz.source import write

    program = generate(seed, ours(passes))
    with tempfile.TemporaryDirectory() as folder:

        def outcome(candidate: Program) -> Outcome:
            return judge([candidate], Path(folder), passes)[0]

        kind = outcome(program).kind
        small = shrink(program, lambda candidate: outcome(candidate).kind == kind)
        print(write(small), small, f"\n{kind}", outcome(small).detail, sep="\n")


if __name__ == "__main__":
    main()
