"""Hands run folders of graft to experiment trackers, without a network.

    python3 -m graft_trackers mlflow mlruns runs/*   # writes MLflow's file store; needs no MLflow
    python3 -m graft_trackers wandb wandb runs/*     # needs the package wandb; writes offline runs

or from Python: to_mlflow(graft_results.read("runs/job"), "mlruns").
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import sys
from typing import Any, Callable, Iterator, Mapping, Sequence

import graft_results

LONGEST_PARAMETER = 6000  # characters that MLflow keeps
_ARTIFACTS = ("config.resolved.toml", "events.jsonl", "outcome.json")


def history(run: graft_results.Run) -> Iterator[tuple[int, float | None, dict[str, int | float]]]:
    """The metrics of a run in the order of steps: step, seconds on the run's clock or None, and numbers by name."""
    if run.kind == "job":
        for row in run.table("epochs"):
            yield row["steps"], row["time_s"], _known(row, "steps", "time_s")
    elif run.kind == "policies":
        steps: dict[int, dict[str, int | float]] = {}
        for row in run.table("learning"):  # seed by seed
            named = {f"{name}.seed-{row['seed']}": v for name, v in _known(row, "seed", "step").items()}
            steps.setdefault(row["step"], {}).update(named)
        for step in sorted(steps):
            yield step, None, steps[step]


def _known(row: Mapping[str, Any], *without: str) -> dict[str, int | float]:
    """The numbers of a row that are not missing."""
    numbers = graft_results.numbers({name: v for name, v in row.items() if name not in without})
    return {name: v for name, v in numbers.items() if math.isfinite(v)}


def _facts(run: graft_results.Run) -> dict[str, Any]:
    """Texts that describe a run besides its configuration."""
    manifest = run.manifest
    facts: dict[str, Any] = {
        name: manifest[name]
        for name in ("graft", "revision", "network", "device", "profile", "host", "config_sha256", "dataset_sha256")
        if name in manifest
    }
    return {**facts, "kind": run.kind, "folder": run.path, "command_line": " ".join(manifest.get("command_line", []))}


def _digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


# ---- MLflow


def to_mlflow(run: graft_results.Run, folder: graft_results.StrPath, experiment: str = "graft") -> str:
    """Writes a run into an MLflow file store, and returns its folder there. Writing it again replaces it.

    Parameters are the configuration, metrics the table of epochs and the numbers of the outcome."""
    number = str(int(_digest(experiment)[:15], 16))
    home = pathlib.Path(folder).resolve() / number
    created = run.manifest.get("created")
    start = int(created.timestamp() * 1000) if created else 0
    name = _digest(run.path, str(created))[:32]
    metrics, end = _metric_lines(run, start)
    target = home / name
    shutil.rmtree(target, ignore_errors=True)
    for kind in ("artifacts", "metrics", "params", "tags"):
        (target / kind).mkdir(parents=True)
    _write(
        home / "meta.yaml",
        _yaml(
            artifact_location=home.as_uri(),
            creation_time=start,
            experiment_id=number,
            last_update_time=start,
            lifecycle_stage="active",
            name=experiment,
        ),
    )
    for key, lines in metrics.items():
        _write(target / "metrics" / _key(key), "".join(lines))
    for key, value in run.config.items():
        _write(
            target / "params" / _key(key), (value if isinstance(value, str) else json.dumps(value))[:LONGEST_PARAMETER]
        )
    for key, value in {"mlflow.runName": run.name, **{f"graft.{k}": v for k, v in _facts(run).items()}}.items():
        _write(target / "tags" / key, str(value))
    for file in _ARTIFACTS:
        if os.path.lexists(os.path.join(run.path, file)):
            _write(target / "artifacts" / file, graft_results.text(run, file))
    _write(
        target / "meta.yaml",
        _yaml(
            artifact_uri=(target / "artifacts").as_uri(),
            end_time=end if run.ended else None,
            entry_point_name="",
            experiment_id=number,
            lifecycle_stage="active",
            run_id=name,
            run_uuid=name,
            run_name=run.name,
            source_name="",
            source_type=4,
            source_version="",
            start_time=start,
            status=3 if run.ended else 1,
            tags=[],
            user_id="graft",
        ),
    )
    return str(target)


def _metric_lines(run: graft_results.Run, start: int) -> tuple[dict[str, list[str]], int]:
    """The lines of each metric: milliseconds, value and step; and the milliseconds of the last one."""
    lines: dict[str, list[str]] = {}
    end, last = start, 0
    for step, time_s, row in history(run):
        end, last = start + int(1000 * (time_s or 0)), max(last, step)
        for key, value in row.items():
            lines.setdefault(key, []).append(f"{end} {value!r} {step}\n")
    for key, value in graft_results.numbers(run.outcome).items():
        lines[f"outcome.{key}"] = [f"{end} {value!r} {last}\n"]
    return lines, end


def _yaml(**values: object) -> str:
    """A mapping as YAML, whose values are JSON."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in values.items())


def _key(name: str) -> str:
    """A name that MLflow takes and that is no path."""
    return re.sub(r"[^A-Za-z0-9_. -]", "_", name).strip(". ")[:250] or "_"


def _write(path: pathlib.Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


# ---- Weights & Biases


def to_wandb(
    run: graft_results.Run, folder: graft_results.StrPath | None = None, project: str = "graft", **options: Any
) -> str:
    """Writes a run as an offline run of Weights & Biases, and returns its folder; 'wandb sync' sends it.

    Options are those of wandb.init. The environment variable WANDB_MODE overrides the mode."""
    try:
        import wandb
    except ImportError:
        raise graft_results.Error("writing a run for Weights & Biases needs the package wandb; install it") from None
    given = dict(
        project=project,
        dir=folder,
        name=run.name,
        id=_digest(run.path, str(run.manifest.get("created")))[:16],
        config=run.config,
        job_type=run.kind,
        mode=os.environ.get("WANDB_MODE", "offline"),
    )
    if folder:
        os.makedirs(folder, exist_ok=True)
    tracked = wandb.init(**{**given, **options})
    tracked.config.update({f"graft.{key}": value for key, value in _facts(run).items()})
    for step, time_s, row in history(run):
        tracked.log({**row, **({} if time_s is None else {"time_s": time_s})}, step=step)
    if run.kind == "job":
        events = run.table("events")
        cells = [
            [v if isinstance(v, (str, int, float, type(None))) else json.dumps(v) for v in row.values()]
            for row in events
        ]
        tracked.log({"events": wandb.Table(columns=list(events.columns), data=cells)})
    tracked.summary.update({f"outcome.{key}": value for key, value in graft_results.numbers(run.outcome).items()})
    where: str = os.path.dirname(tracked.dir)
    tracked.finish()
    return where


def main(args: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tracker", choices=["mlflow", "wandb"])
    parser.add_argument("folder", help="to write into")
    parser.add_argument("runs", nargs="+", help="run folders, or folders of them")
    given = parser.parse_args(args)
    to: Callable[[graft_results.Run, str], str] = to_mlflow if given.tracker == "mlflow" else to_wandb
    try:
        for path in given.runs:
            for run in graft_results.find(path):
                print(f"wrote {run.path} to {to(run, given.folder)}")
    except graft_results.Error as err:
        sys.exit(f"graft_trackers: {err}")


if __name__ == "__main__":
    main()
