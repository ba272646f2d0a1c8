"""Tests of graft_results and graft_trackers: python3 -m unittest discover python.

With GRAFT_TEST_RUNS, a folder of runs that graft has written with expected.json beside them, the
tests compare with what graft itself reads. Packages of trackers are tested where they are installed.
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from typing import Any, Callable, Iterator

import graft_results
import graft_trackers

HERE = pathlib.Path(__file__).resolve().parent
RUNS = os.environ.get("GRAFT_TEST_RUNS", "")
MANIFEST = {"format": 1, "created": "2026-01-02T03:04:05.123456789Z", "graft": "test", "seed": 7, "network": "Tiny"}
CONFIG = """# comment
[run]
seed = 7
folder = "a \\"quoted\\" \\u00e9 name"
[optimizer]
lr = 1e-3
betas = [
  0.9, # first
  9e5,
]
[time]
budget = "1m30s"
events = [{at = "5s", change = "up", devices = 2}, {}]
off = true
low = -inf
[a."b.c"]
d.e = 0x10
[[part]]
n = 1_000
[[part]]
n = -2
"""
EPOCHS = 'epoch,time [s],loss [nats],note,done\n0,0.5,1.0,"a ""b"", c",true\n1,1.5,,,\n2,2.5,NaN,"",false\n'
EVENTS = """{"event":"start","time_ns":0,"accuracy":0}
{"event":"decision","time_ns":1500000000,"accuracy":0.5,"took_ns":20,"probabilities":[1]}
"""


class Folder(unittest.TestCase):
    """A test with a run folder of a job."""

    def setUp(self) -> None:
        where = tempfile.TemporaryDirectory()
        self.addCleanup(where.cleanup)
        self.root = pathlib.Path(where.name).resolve() / "runs"
        self.job = self.write_job("job")

    def write(self, path: str, text: Any) -> pathlib.Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if isinstance(text, str) else json.dumps(text))
        return file

    def write_job(self, name: str) -> pathlib.Path:
        self.write(f"{name}/manifest.json", MANIFEST)
        self.write(f"{name}/config.resolved.toml", CONFIG)
        self.write(f"{name}/epochs.csv", EPOCHS)
        self.write(f"{name}/events.jsonl", EVENTS)
        return self.root / name

    def end(self, name: str = "job") -> None:
        self.write(
            f"{name}/outcome.json",
            {"epochs": 3, "used_ns": 2500000000, "test": {"accuracy": 0.75}, "parts": [{"took_ns": 5}]},
        )


class Reads(Folder):
    def test_a_job(self) -> None:
        run = graft_results.read(self.job)
        self.assertEqual(
            (run.kind, run.name, run.ended, run.outcome, run.tables), ("job", "job", False, None, ["epochs", "events"])
        )
        self.assertEqual(run.manifest["created"], datetime.datetime(2026, 1, 2, 3, 4, 5, 123456, datetime.timezone.utc))
        epochs = run.table("epochs")
        self.assertEqual(list(epochs.columns), ["epoch", "time_s", "loss_nats", "note", "done"])
        self.assertEqual(epochs["time_s"], [0.5, 1.5, 2.5])
        self.assertEqual(epochs["note"], ['a "b", c', None, ""])
        self.assertEqual(epochs["done"], [True, None, False])
        self.assertEqual(epochs["loss_nats"][0], 1.0)
        self.assertTrue(math.isnan(epochs["loss_nats"][1]) and math.isnan(epochs["loss_nats"][2]))
        self.assertEqual([row["epoch"] for row in epochs], [0, 1, 2])
        events = run.table("events")
        self.assertEqual(events["time_s"], [0.0, 1.5])
        self.assertEqual(events["accuracy"], [0.0, 0.5])
        self.assertEqual(events["probabilities"], [None, [1]])
        self.assertTrue(math.isnan(events["took_s"][0]))
        self.assertEqual(events["took_s"][1], 20e-9)
        self.end()
        self.assertTrue(run.ended)
        self.assertEqual(
            run.outcome, {"epochs": 3, "used_s": 2.5, "test": {"accuracy": 0.75}, "parts": [{"took_s": 5e-9}]}
        )
        table = graft_results.outcomes([run], ["optimizer.lr", "no.key"])
        self.assertEqual((table["test.accuracy"], table["optimizer.lr"], table["seed"]), ([0.75], [0.001], [7]))
        self.assertTrue(math.isnan(table["no.key"][0]))

    def test_the_kind_is_that_of_the_manifest(self) -> None:
        self.write("begun/manifest.json", dict(MANIFEST, kind="node-run"))
        run = graft_results.read(self.root / "begun")
        self.assertEqual((run.kind, run.ended, run.tables, run.outcome), ("node-run", False, [], None))
        self.write("job/manifest.json", dict(MANIFEST, kind="policy"))
        self.assertEqual(graft_results.read(self.job).kind, "policy")
        self.write("whole/pipeline.json", {"run": dict(MANIFEST, kind="pipeline"), "stages": []})
        self.assertEqual(graft_results.read(self.root / "whole").kind, "pipeline")
        for kind in ("of-tomorrow", "table", 5, ["job"]):
            self.write("job/manifest.json", dict(MANIFEST, kind=kind))
            with self.assertRaisesRegex(graft_results.Error, f"job: unknown kind of run {re.escape(repr(kind))}"):
                graft_results.read(self.job)
        skipped: list[graft_results.Error] = []
        self.assertEqual([run.name for run in graft_results.find(self.root, skipped)], ["begun", "whole"])
        self.assertEqual(len(skipped), 1)

    def test_configurations_without_tomllib(self) -> None:
        want = {
            "run.seed": 7,
            "run.folder": 'a "quoted" é name',
            "optimizer.lr": 0.001,
            "optimizer.betas": [0.9, 9e5],
            "time.budget": "1m30s",
            "time.events": [{"at": "5s", "change": "up", "devices": 2}, {}],
            "time.off": True,
            "time.low": -math.inf,
            "a.b.c.d.e": 16,
            "part": [{"n": 1000}, {"n": -2}],
        }
        for parser in {graft_results.tomllib, None}:
            with self.subTest(parser), unittest.mock.patch.object(graft_results, "tomllib", parser):
                self.assertEqual(graft_results.read(self.job).config, want)
                for text in (
                    "[run\nseed = 1",
                    "a = ",
                    "a = 1 2",
                    "a = 1\na = 2",
                    "= 1",
                    "a = [1",
                    'a = "b',
                    "a = {b = 1",
                    "a = b",
                    "\0",
                    "[" * 5000,
                ):
                    self.write("job/config.resolved.toml", text)
                    with self.assertRaisesRegex(
                        graft_results.Error, "config.resolved.toml: it is not valid TOML", msg=text
                    ):
                        graft_results.read(self.job).config
                self.write("job/config.resolved.toml", CONFIG)

    def test_durations(self) -> None:
        for text, want in {"1m30s": 90, "500ms": 0.5, "1h0.5s": 3600.5, "-2s": -2, "0s": 0, "3µs": 3e-6}.items():
            self.assertAlmostEqual(graft_results.seconds(text), want, places=12)
        for text in ("", "5", "s", "5 s", "5s1"):
            with self.assertRaisesRegex(graft_results.Error, "not a duration"):
                graft_results.seconds(text)

    def test_runs_within_runs_are_parts(self) -> None:
        self.write("sweep/manifest.json", MANIFEST)
        for name in ("sweep/jobs/one", "sweep/jobs/two", "more/deep/three", ".hidden/four"):
            self.write_job(name)
        self.write("cache/outcomes/x", "")
        self.write_job("cache/states/five")
        os.symlink(self.root, self.root / "again")
        self.assertEqual([run.name for run in graft_results.find(self.root)], ["job", "three", "sweep"])
        sweep = graft_results.read(self.root / "sweep")
        self.assertEqual((sweep.kind, [run.name for run in sweep.parts]), ("run", ["one", "two"]))

    def test_files_of_clusters(self) -> None:
        self.write("cluster/manifest.json", MANIFEST)
        self.write("cluster/cells.csv", 'scheduler,load\n"fifo",1.0\n')
        self.write("cluster/fifo/jobs.csv", 'job_id,vc,start [s],nodes,mean\n007,a,5,"[{0: [0, 1]}]",0.5\n12,,6,x,1\n')
        run = graft_results.read(self.root / "cluster")
        self.assertEqual(run.tables, ["cells", "fifo/jobs"])
        jobs = run.table("fifo/jobs")
        self.assertEqual(
            (jobs["job_id"], jobs["vc"], jobs["start_s"], jobs["mean"]),
            (["007", "12"], ["a", None], [5, 6], [0.5, 1.0]),
        )

    def test_files_of_cluster_simulations(self) -> None:
        self.write("tasks/manifest.json", {**MANIFEST, "kind": "node"})
        self.write("tasks/cells.csv", 'point,workload,scheduler,seed,jct_mean [s]\n"","a","sjf",0,2.5\n')
        head = "point,workload,scheduler,seed,group,part,energy [J]"
        self.write("tasks/parts.csv", head + '\n"","a","sjf",0,"kind","x",3.5\n')
        self.write("tasks/a/sjf/series.csv", "time [s],waiting [tasks]\n0,4\n1,2\n")
        self.write("tasks/p/a/sjf/jobs.csv", "job,jct [s]\nx,12\n")
        run = graft_results.read(self.root / "tasks")
        self.assertEqual((run.kind, run.tables), ("node", ["a/sjf/series", "cells", "p/a/sjf/jobs", "parts"]))
        self.assertEqual(run.table("a/sjf/series")["waiting_tasks"], [4, 2])
        self.assertEqual(run.table("cells")["jct_mean_s"], [2.5])

    def test_files_of_task_runs(self) -> None:
        self.write("run/manifest.json", {**MANIFEST, "kind": "node-run"})
        self.write("run/streams.json", {"streams": ["tasks.jsonl"]})
        self.write("run/tasks.jsonl", '{"at_ns":5000000000,"event":"placed","task":0}\n')
        self.write("run/spans.csv", "task,gpu,from_seconds\na-1,0,0.5\n")
        run = graft_results.read(self.root / "run")
        self.assertEqual(run.tables, ["spans", "tasks"])
        self.assertEqual((run.table("spans")["task"], run.table("spans")["from_seconds"]), (["a-1"], [0.5]))
        self.assertEqual(run.table("tasks")["at_s"], [5])

    def test_a_torn_end_is_skipped(self) -> None:
        self.write("job/epochs.csv", EPOCHS + "3,3.5,")
        self.write("job/events.jsonl", EVENTS + '{"event":"up","ti')
        run = graft_results.read(self.job)
        self.assertEqual((len(run.table("epochs")), len(run.table("events"))), (3, 2))
        self.write("job/epochs.csv", "epoch,time [s]\n")
        self.assertEqual((len(run.table("epochs")), list(run.table("epochs"))), (0, []))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "left out: no pandas")
    def test_frames(self) -> None:
        frame = graft_results.read(self.job).table("epochs").frame()
        self.assertEqual(
            {name: str(kind) for name, kind in frame.dtypes.items()},
            {"epoch": "Int64", "time_s": "float64", "loss_nats": "float64", "note": "string", "done": "boolean"},
        )
        self.assertEqual(int(frame["note"].isna().sum()), 1)


class Faults(Folder):
    def fails(
        self, pattern: str, of: Callable[[graft_results.Run], Any] = lambda run: run.table("epochs")
    ) -> None:
        with self.assertRaisesRegex(graft_results.Error, pattern):
            of(graft_results.read(self.job))

    def test_damage_names_the_file_and_line(self) -> None:
        for text, pattern in {
            "": r"epochs.csv:1: the header line is missing",
            "a,b\n1\n": r"epochs.csv:2: expected 2 values, got 1",
            'a\n"b\n': r"epochs.csv:2: column 1: a quote",
            'a\n"b"c\n': "epochs.csv:2",
            "a\n1_0\n": r"epochs.csv:2: '1_0' is not a number",
            "a\nword\n": "epochs.csv:2",
            "a\n 1\n": "epochs.csv:2",
            "a\n0x1\n": "epochs.csv:2",
            'a\n1\n"b"\n': "column a has values of several kinds",
        }.items():
            with self.subTest(text):
                self.write("job/epochs.csv", text)
                self.fails(pattern)
        (self.job / "epochs.csv").write_bytes(b"a\n\xff\n")
        self.fails("it is not UTF-8 at byte 2")
        for text in ("{", "[]", "[" * 100_000, "nul"):
            self.write("job/events.jsonl", "{}\n" + text + "\n")
            self.fails("events.jsonl:2: ", lambda run: run.table("events"))
            self.write("job/outcome.json", text)
            self.fails("outcome.json: ", lambda run: run.outcome)
        self.write("job/manifest.json", {"format": 99})
        self.fails("unsupported format 99", lambda run: run.manifest)
        self.write("job/manifest.json", {"format": 1, "created": "yesterday"})
        self.fails("'yesterday' is not a time", lambda run: run.manifest)

    def test_links_out_of_the_folder_are_refused(self) -> None:
        secret = self.write("secret.csv", "a\n1\n")
        for name in ("epochs.csv", "outcome.json", "config.resolved.toml", "manifest.json", "events.jsonl"):
            (self.job / name).unlink(missing_ok=True)
            os.symlink(secret, self.job / name)
        for of in (
            lambda run: run.table("epochs"),
            lambda run: run.table("events"),
            lambda run: run.outcome,
            lambda run: run.config,
            lambda run: run.manifest,
        ):
            self.fails("the link leads out of the run folder", of)
        os.symlink(self.root, self.job / "table")
        self.write("scenario.json", {})
        self.fails("the link leads out", lambda run: run.scenario)
        (self.job / "epochs.csv").unlink()
        self.write("job/inside.csv", "a\n1\n")
        os.symlink("inside.csv", self.job / "epochs.csv")
        self.assertEqual(graft_results.read(self.job).table("epochs")["a"], [1])

    def test_what_is_no_regular_file_is_refused(self) -> None:
        for make in (os.mkfifo, os.mkdir):
            (self.job / "epochs.csv").unlink()
            make(self.job / "epochs.csv")
            self.fails("not a regular file|Is a directory")
            os.rename(self.job / "epochs.csv", self.job / f"old-{make.__name__}")
            self.write("job/epochs.csv", EPOCHS)

    def test_sizes_are_bounded(self) -> None:
        for limit, of in {
            "LARGEST_TABLE": lambda run: run.table("epochs"),
            "LARGEST_JSON": lambda run: run.manifest,
        }.items():
            with unittest.mock.patch.object(graft_results, limit, 20):
                self.fails("more than 20 bytes", of)
        with unittest.mock.patch.object(graft_results, "MAX_ENTRIES", 2):
            with self.assertRaisesRegex(graft_results.Error, "more than 2 entries"):
                graft_results.read(self.job)

    def test_other_folders_and_names(self) -> None:
        with self.assertRaisesRegex(graft_results.Error, "not a run folder"):
            graft_results.read(self.root)
        with self.assertRaisesRegex(graft_results.Error, "No such file"):
            graft_results.read(self.root / "none")
        self.fails("no table 'nothing'; there are: epochs, events", lambda run: run.table("nothing"))
        self.fails("no table '../secret'", lambda run: run.table("../secret"))
        with self.assertRaisesRegex(KeyError, "no column 'b'; there are epoch"):
            graft_results.read(self.job).table("epochs")["b"]
        skipped: list[graft_results.Error] = []
        self.assertEqual(graft_results.find(self.root / "none", skipped), [])
        self.assertEqual(len(skipped), 1)


class Trackers(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.write("job/epochs.csv", "epoch,time [s],steps,loss [nats]\n0,0.5,10,1.0\n1,1.0,20,\n")
        self.end()
        self.run_ = graft_results.read(self.job)

    def test_mlflow_files(self) -> None:
        folder = pathlib.Path(graft_trackers.to_mlflow(self.run_, self.root / "ml"))
        start = 1767323045123
        self.assertEqual((folder / "metrics/loss_nats").read_text(), f"{start + 500} 1.0 10\n")
        self.assertEqual((folder / "metrics/outcome.test.accuracy").read_text(), f"{start + 1000} 0.75 20\n")
        self.assertEqual((folder / "params/optimizer.lr").read_text(), "0.001")
        self.assertEqual((folder / "artifacts/events.jsonl").read_text(), EVENTS)
        self.assertEqual(graft_trackers.to_mlflow(self.run_, self.root / "ml"), str(folder))

    def test_policies_are_in_the_order_of_steps(self) -> None:
        self.write("policies/manifest.json", MANIFEST)
        self.write("policies/learners/x", "")
        self.write("policies/learning.csv", "seed,step,aim\n1,10,0.5\n1,20,0.75\n2,10,\n2,20,0.25\n")
        run = graft_results.read(self.root / "policies")
        self.assertEqual(
            list(graft_trackers.history(run)),
            [(10, None, {"aim.seed-1": 0.5}), (20, None, {"aim.seed-1": 0.75, "aim.seed-2": 0.25})],
        )

    def test_the_command(self) -> None:
        out = subprocess.run(
            [sys.executable, "-m", "graft_trackers", "mlflow", str(self.root / "ml"), str(self.root)],
            cwd=HERE,
            stdout=subprocess.PIPE,
            universal_newlines=True,
            check=True,
        ).stdout
        self.assertRegex(out, r"\Awrote .*job to .*ml")

    @unittest.skipUnless(
        importlib.util.find_spec("mlflow"),
        "left out: no mlflow; install it with pip, and name its Python in GRAFT_PYTHON",
    )
    def test_mlflow_reads_them(self) -> None:
        graft_trackers.to_mlflow(self.run_, self.root / "ml")
        database = f"sqlite:///{self.root}/mlflow.db"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "mlflow",
                "migrate-filestore",
                "--source",
                str(self.root / "ml"),
                "--target",
                database,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        from mlflow import MlflowClient

        for store in ((self.root / "ml").as_uri(), database):
            client = MlflowClient(store)
            experiment = client.get_experiment_by_name("graft")
            (run,) = client.search_runs([experiment.experiment_id])
            self.assertEqual(
                (run.info.run_name, run.info.status, run.data.params["optimizer.lr"]), ("job", "FINISHED", "0.001")
            )
            self.assertEqual(run.data.metrics["outcome.test.accuracy"], 0.75)
            (metric,) = client.get_metric_history(run.info.run_id, "loss_nats")
            self.assertEqual((metric.value, metric.step), (1.0, 10))
            self.assertIn("events.jsonl", [file.path for file in client.list_artifacts(run.info.run_id)])

    @unittest.skipUnless(
        importlib.util.find_spec("wandb"),
        "left out: no wandb; install it with pip, and name its Python in GRAFT_PYTHON",
    )
    def test_wandb_reads_them(self) -> None:
        os.environ.update(WANDB_SILENT="true", WANDB_MODE="offline")
        folder = graft_trackers.to_wandb(self.run_, str(self.root / "wb"))
        (file,) = pathlib.Path(folder).glob("*.wandb")
        import wandb
        from wandb.proto import wandb_internal_pb2

        wandb.teardown()  # waits for the files
        history, config, summary = [], {}, {}
        for data in logged(file.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            items: Callable[[Any], dict[str, Any]] = lambda part: {
                item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in part
            }
            if record.HasField("history"):
                history.append(items(record.history.item))
            for update in (record.run.config.update, record.config.update):
                config.update(items(update))
            summary.update(items(record.summary.update))
        self.assertEqual([(row["_step"], row["loss_nats"]) for row in history if "loss_nats" in row], [(10, 1.0)])
        self.assertEqual(
            (config["optimizer.lr"], config["graft.graft"], summary["outcome.test.accuracy"]), (0.001, "test", 0.75)
        )
        self.assertTrue(list(pathlib.Path(folder).glob("files/media/table/events*.json")))


def logged(data: bytes) -> Iterator[bytes]:
    """The records of a log in the format of LevelDB, after a head of 7 bytes."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # the rest of a block is empty
            at += 32768 - at % 32768
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # a full record, or its last part
            yield whole
            whole = b""


class Notebook(Folder):
    """The example runs from its first to its last cell, with nbclient where it is installed."""

    def test_it_runs(self) -> None:
        self.write("job/epochs.csv", "epoch,time [s],validation_accuracy\n0,0.5,0.25\n1,1.0,0.5\n")
        self.end()
        runs, path = RUNS or str(self.root), HERE / "example.ipynb"
        with unittest.mock.patch.dict(os.environ, GRAFT_RUNS=runs, MPLBACKEND="Agg"):
            if importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"):
                import nbclient
                import nbformat

                notebook = nbformat.read(path, as_version=4)
                nbformat.validate(notebook)
                nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(HERE)}}).execute()
                text = "".join(out.get("text", "") for cell in notebook.cells for out in cell.get("outputs", []))
            else:
                code = "\n\n".join(
                    "".join(cell["source"])
                    for cell in json.loads(path.read_text())["cells"]
                    if cell["cell_type"] == "code"
                )
                text = subprocess.run(
                    [sys.executable, "-"],
                    input=code,
                    cwd=HERE,
                    stdout=subprocess.PIPE,
                    universal_newlines=True,
                    check=True,
                ).stdout
        self.assertRegex(text, r"(?m)^job job ended epochs events( log)?$")
        self.assertIn("job best validation accuracy", text)


def damaged(draw: random.Random, data: bytes) -> bytes:
    """A file with a few changes: of its bytes, or of values of its JSON."""
    try:
        tree = json.loads(data)
    except ValueError:
        tree = None
    if isinstance(tree, dict) and tree and draw.random() < 0.7:
        part = tree
        while True:
            at = draw.choice(sorted(part) if isinstance(part, dict) else range(len(part)))
            if not isinstance(part[at], (dict, list)) or not part[at] or draw.random() < 0.4:
                break
            part = part[at]
        part[at] = draw.choice([None, 5, -1, 1e300, "x", "", True, [], [None], {}, {"x": []}])
        return json.dumps(tree).encode()
    changed = bytearray(data or b"{}")
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(changed))
        what = draw.choice([b"", b'"', b"[", b"-1", b"null", b"x", b"\n", b"9" * 30, b"{}", b"\xff", b"1e999"])
        changed[at : at + draw.choice([0, 1, 4, len(what)])] = what
        changed = changed or bytearray(b"{}")
    return bytes(changed)


@unittest.skipUnless(RUNS, "left out: GRAFT_TEST_RUNS names no runs of graft")
class AgainstGraft(unittest.TestCase):
    """Runs as graft reads them: expected.json has their kinds, seeds, configurations, parts, and columns of tables."""

    def test_runs(self) -> None:
        expected = json.loads((pathlib.Path(RUNS) / "expected.json").read_text())
        self.assertGreater(len(expected), 12)
        for name, want in expected.items():
            with self.subTest(name):
                run = graft_results.read(os.path.join(RUNS, name))
                self.assertEqual((run.kind, run.ended), (want["kind"], want["ended"]))
                self.assertEqual(run.manifest.get("seed", 0), want["seed"])
                self.assertEqual([part.name for part in run.parts], want["parts"] or [])
                self.assertEqual(run.ended and run.kind not in ("simulation", "table"), run.outcome is not None)
                self.compare_config(run, want["config"] or {})
                for table, columns in (want["tables"] or {}).items():
                    for column, values in columns.items():
                        found = [
                            None if isinstance(v, float) and math.isnan(v) else v for v in run.table(table)[column]
                        ]
                        self.assertEqual(found, values, f"{table} {column}")
                for table in run.tables:
                    self.assertEqual(len(run.table(table)), len(list(run.table(table))))
                with tempfile.TemporaryDirectory() as folder:
                    graft_trackers.to_mlflow(run, folder)

    def test_damage_is_an_error_and_nothing_else(self) -> None:
        draw = random.Random(7)
        for name in json.loads((pathlib.Path(RUNS) / "expected.json").read_text()):
            with tempfile.TemporaryDirectory() as folder:
                files = [
                    f
                    for f in (pathlib.Path(RUNS) / name).rglob("*")
                    if f.suffix in (".json", ".jsonl", ".csv", ".toml")
                ]
                for _ in range(20):
                    source = draw.choice(sorted(files))
                    path = pathlib.Path(shutil.copytree(pathlib.Path(RUNS) / name, f"{folder}/run", dirs_exist_ok=True))
                    (path / source.relative_to(pathlib.Path(RUNS) / name)).write_bytes(
                        damaged(draw, source.read_bytes())
                    )
                    self.read_all(path)

    def read_all(self, path: pathlib.Path) -> None:
        try:
            runs = graft_results.find(path)
            runs += [part for run in runs for part in run.parts]
        except graft_results.Error:
            return
        for run in runs:
            for of in (
                lambda: run.ended,
                lambda: run.manifest,
                lambda: run.config,
                lambda: run.outcome,
                lambda: run.scenario,
            ):
                try:
                    of()
                except graft_results.Error:
                    pass
            for table in run.tables:
                try:
                    run.table(table)
                except graft_results.Error:
                    pass

    def compare_config(self, run: graft_results.Run, want: dict[str, Any]) -> None:
        self.assertEqual(sorted(run.config), sorted(want))
        if graft_results.tomllib:
            with unittest.mock.patch.object(graft_results, "tomllib", None):
                plain = graft_results.read(run.path).config
            self.assertEqual(plain, run.config)


if __name__ == "__main__":
    unittest.main()
