"""``python -m tests.fuzz.run [--seconds N] [TARGET ...]``: the long run behind ``make fuzz``.

Coverage-guided by atheris where it is installed, else by the mutator that CI uses. A target runs
in a process of its own; what it finds is left in ``build/fuzz/TARGET`` and told as a failure.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import random
import subprocess
import sys
import time
from pathlib import Path

from fencepost_client.progress import Progress

from tests.fuzz.mutate import mutated

FOLDER = Path(__file__).parent
OUTPUT = Path("build/fuzz")
TOLD_EVERY_S = 1.0


def with_atheris(name: str, seconds: int) -> None:
    """Never returns: atheris ends the process."""
    import atheris

    with atheris.instrument_imports(include=["fencepost_protocol"]):
        module = importlib.import_module(f"tests.fuzz.{name}")
    corpus = OUTPUT / name / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(module.SEEDS):
        (corpus / f"seed-{number}").write_bytes(seed)
    arguments = [
        name,
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        f"-artifact_prefix={OUTPUT / name}/",
        str(corpus),
    ]
    atheris.Setup(arguments, module.target)
    atheris.Fuzz()


def with_mutator(name: str, seconds: int) -> None:
    """Random mutations until the time is over."""
    module = importlib.import_module(f"tests.fuzz.{name}")
    seed = random.SystemRandom().randrange(1 << 32)
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    runs = 0
    while time.monotonic() < end:
        data = mutated(rng.choice(module.SEEDS), rng.choice(module.SEEDS), rng)
        try:
            module.target(data)
        except Exception:
            path = OUTPUT / name / f"crash-{seed}-{runs}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f"{name}: seed {seed}, run {runs}: input kept in {path}")
            raise
        runs += 1
    print(f"{name}: {runs} runs, seed {seed}")


def wait(command: list[str], progress: Progress, before_s: float, step: str) -> int:
    """Run a target to its end, and return its exit code."""
    begun_s = time.monotonic()
    progress.begin(step)
    with subprocess.Popen(command) as running:
        while True:
            try:
                return running.wait(TOLD_EVERY_S)
            except subprocess.TimeoutExpired:
                progress.reach(before_s + time.monotonic() - begun_s)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--here", choices=["atheris", "mutator"], help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    targets = options.targets or sorted(path.stem for path in FOLDER.glob("fuzz_*.py"))
    if options.here:
        run = with_atheris if options.here == "atheris" else with_mutator
        run(targets[0], options.seconds)
        return 0
    engine = "atheris" if importlib.util.find_spec("atheris") else "mutator"
    failed = []
    with Progress(options.seconds * len(targets), "seconds", sys.stderr) as progress:
        for number, name in enumerate(targets):
            progress.clear()
            print(f"{name}: {options.seconds} s with {engine}", flush=True)
            command = [sys.executable, "-m", "tests.fuzz.run", "--here", engine]
            command += ["--seconds", str(options.seconds), name]
            if wait(command, progress, options.seconds * number, f"{name} with {engine}"):
                failed.append(name)
    for name in failed:
        print(f"FAILED: {name}; the input is in {OUTPUT / name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
