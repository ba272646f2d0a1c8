"""Reads run folders of graft as typed tables.

    import graft_results

    run = graft_results.read("runs/job")
    run.config["optimizer.lr"], run.outcome["test"]["accuracy"]
    run.table("epochs")["validation_accuracy"]   # a list; run.table("epochs").frame() for pandas
    for run in graft_results.find("runs"): ...

It needs Python 3.9 and its standard library. A column or key is named with its unit: `time [s]`
is `time_s`, `used_ns` is `used_s` in seconds. A missing number is NaN in a column of floats, and
None elsewhere. Files are only read: nothing of a folder is executed, and links that lead out of
it are refused. Every fault is an Error that names the file, and the line if there is one.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import importlib
import json
import math
import os
import re
import stat
import types
import typing
from typing import Any, BinaryIO, Iterable, Iterator, Mapping, Sequence

tomllib: types.ModuleType | None
try:
    tomllib = importlib.import_module("tomllib")
except ImportError:  # before Python 3.11
    tomllib = None

StrPath = typing.Union[str, "os.PathLike[str]"]
Row = typing.Dict[str, Any]  # values by the names of columns, or a JSON object

# Largest files that are read, in bytes. Raise them for larger ones.
LARGEST_JSON = 64 << 20
LARGEST_TABLE = 256 << 20

MAX_DEPTH = 8  # of folders in which runs are searched
MAX_ENTRIES = 100_000  # of a folder
FORMAT = 1  # of manifests and tables; a higher number is of a later graft


class Error(Exception):
    """A folder or file cannot be read; the message says which, why, and what to do."""


# ---- tables


class Table:
    """Columns of equal length. `table[name]` is a list; iterating gives rows as dictionaries."""

    def __init__(self, columns: dict[str, list[Any]], kinds: dict[str, str]) -> None:
        self.columns = columns  # lists by name, in order
        self.kinds = kinds  # "int", "float", "bool", "str" or "json" by name

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __iter__(self) -> Iterator[Row]:
        names = list(self.columns)
        return (dict(zip(names, row)) for row in zip(*self.columns.values()))

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {', '.join(self.columns)}>"

    def frame(self) -> Any:
        """A pandas DataFrame; integers, booleans and texts keep their type where some are missing."""
        try:
            import pandas
        except ImportError:
            raise Error("a frame needs pandas: install it, or use table[column]") from None
        types = {"int": "Int64", "bool": "boolean", "str": "string", "float": "float64", "json": "object"}
        return pandas.DataFrame(
            {name: pandas.Series(values, dtype=types[self.kinds[name]]) for name, values in self.columns.items()}
        )


def _typed(names: Sequence[str], rows: Sequence[Sequence[Any]], kinds: Mapping[str, str] | None = None) -> Table:
    """A table from rows of values; kinds that are not given are those of the values."""
    columns = dict(zip(names, map(list, zip(*rows)))) if rows else {name: [] for name in names}
    found = {name: _kind_of(values) for name, values in columns.items()}
    kinds = {name: (kinds or {}).get(name, kind) if kind == "int" else kind for name, kind in found.items()}
    for name in [name for name, kind in kinds.items() if kind == "float"]:
        columns[name] = [math.nan if v is None else float(v) for v in columns[name]]
    return Table(columns, kinds)


def _kind_of(values: Iterable[Any]) -> str:
    """Kind of the values that are not missing; a column without any is of floats."""
    types = {type(v) for v in values if v is not None}
    if not types or types <= {int, float}:
        return "int" if types == {int} else "float"
    return {bool: "bool", str: "str"}.get(types.pop(), "json") if len(types) == 1 else "json"


def _column(head: str) -> str:
    """The name of a column with its unit: `time [s]` is time_s."""
    name, bracket, unit = head.partition(" [")
    return f"{name}_{re.sub('[^A-Za-z0-9]+', '_', unit[:-1])}" if bracket and unit.endswith("]") else head


# ---- files


def _open(root: str, *names: str) -> BinaryIO:
    """Opens a regular file beneath a folder; a link may not lead out of the folder."""
    path = os.path.join(root, *names)
    real, home = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath([real, home]) != home:
        raise Error(f"{path}: the link leads out of the run folder to {real}; copy the file into the folder")
    try:
        file = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError as err:
        raise Error(f"{path}: {err.strerror}") from err
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise Error(f"{path}: it is not a regular file")
    return os.fdopen(file, "rb")


def _text(limit: int, root: str, *names: str) -> str:
    """The text of a file of at most limit bytes."""
    path = os.path.join(root, *names)
    with _open(root, *names) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Error(
            f"{path}: it has more than {limit} bytes; raise LARGEST_JSON or LARGEST_TABLE of graft_results to read it"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as err:
        raise Error(f"{path}: it is not UTF-8 at byte {err.start}; copy the file again") from None


def _whole(text: str) -> int | float:
    """An integer of up to 64 bits; a longer one is a float."""
    return int(text) if len(text) <= 20 else float(text)


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as err:
        raise Error(f"{where}: it is not valid JSON: {err}") from None


def _json(root: str, *names: str) -> Row:
    """The object of a JSON file."""
    path = os.path.join(root, *names)
    value = _parse_json(_text(LARGEST_JSON, root, *names), path)
    if not isinstance(value, dict):
        raise Error(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def _check_format(where: str, value: object) -> None:
    """Refuses what a later graft has written."""
    found = value.get("format", FORMAT) if isinstance(value, dict) else None
    if not isinstance(found, int) or found > FORMAT:
        raise Error(f"{where}: unsupported format {found}; expected at most {FORMAT}; use the module of a later graft")


@contextlib.contextmanager
def _of_its_form(where: str) -> Iterator[None]:
    """Reports JSON whose keys or types are not those that graft writes."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as err:
        raise Error(f"{where}: keys or values are not of this kind of file: {err}; copy the file again") from None


def _lines(root: str, *names: str) -> Iterator[tuple[int, str]]:
    """The whole lines of a file with their numbers. A torn last line, which is being written, is skipped."""
    text = _text(LARGEST_TABLE, root, *names)
    return enumerate(text.split("\n")[:-1], 1)


def _seconds_in(value: Any) -> Any:
    """A JSON value whose keys in nanoseconds are in seconds: used_ns is used_s."""
    if isinstance(value, list):
        return [_seconds_in(v) for v in value]
    if not isinstance(value, dict):
        return value
    timed = {k for k, v in value.items() if k.endswith("_ns") and isinstance(v, (int, float))}
    return {k[:-3] + "_s" if k in timed else k: v / 1e9 if k in timed else _seconds_in(v) for k, v in value.items()}


# ---- tables of run folders, as graft writes them

_WORDS = {"": None, "true": True, "false": False}
_CELL = re.compile(r'(?:"((?:[^"]|"")*)"|([^",]*))(,|$)')
_INT = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"([+-]?([0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?|Inf)|NaN)\Z")


def _bare(text: str) -> bool | int | float | None:
    """The value of a cell without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text):
        return _whole(text)
    if not _FLOAT.match(text) or re.match("-?0[0-9]", text):
        raise ValueError(f"{text[:100]!r} is not a number; text must be in quotes")
    return float(text)


def _cells(line: str) -> list[Any]:
    """The values of a row. Text stands in quotes."""
    if '"' not in line:
        return [_bare(text) for text in line.split(",")]
    row: list[Any] = []
    at = 0
    while True:
        match = _CELL.match(line, at)
        if not match:
            raise ValueError(f"column {len(row) + 1}: a quote is not closed")
        row.append(_bare(match[2]) if match[1] is None else match[1].replace('""', '"'))
        at = match.end()
        if not match[3]:
            return row


def _read_stream(root: str, *names: str) -> Table:
    """A table of a run, also while it is written."""
    path, heads, rows = os.path.join(root, *names), None, []
    for number, line in _lines(root, *names):
        if heads is None:
            heads = [_column(head) for head in line.split(",")]
            continue
        try:
            row = _cells(line)
        except ValueError as err:
            raise Error(f"{path}:{number}: {err}; copy the file again") from None
        if len(row) != len(heads):
            raise Error(f"{path}:{number}: expected {len(heads)} values, got {len(row)}; copy the file again")
        rows.append(row)
    if heads is None:
        raise Error(f"{path}:1: the header line is missing")
    table = _typed(heads, rows)
    mixed = [name for name, kind in table.kinds.items() if kind == "json"]
    if mixed:
        raise Error(f"{path}: column {mixed[0]} has values of several kinds; copy the file again")
    return table


def _read_csv(root: str, *names: str) -> Table:
    """A CSV file whose texts have no quotes. A column is of texts unless each value is a number."""
    path = os.path.join(root, *names)
    text = _text(LARGEST_TABLE, root, *names)
    try:
        lines = [row for row in csv.reader(text[: text.rfind("\n") + 1].splitlines(True))]
    except csv.Error as err:
        raise Error(f"{path}: {err}; copy the file again") from None
    if not lines:
        raise Error(f"{path}:1: the header line is missing")
    heads, rows = [_column(head) for head in lines[0]], lines[1:]
    for number, row in enumerate(rows, 2):
        if len(row) != len(heads):
            raise Error(f"{path}:{number}: expected {len(heads)} values, got {len(row)}; copy the file again")
    return _typed(heads, list(zip(*map(_guessed, zip(*rows)))) if rows else [])


def _guessed(texts: Sequence[str]) -> list[Any]:
    """The values of a column of texts. A number with leading zeros is a name."""
    try:
        return [_bare(text) for text in texts]
    except ValueError:
        return [text or None for text in texts]


_FLOATS = {"accuracy"}  # numbers of logs that JSON may write without a point


def _read_log(root: str, *names: str) -> Table:
    """A log: a JSON object in each line, whose keys are columns in the order of their first line."""
    path, heads, found = os.path.join(root, *names), {}, []
    for number, line in _lines(root, *names):
        value = _parse_json(line, f"{path}:{number}")
        if not isinstance(value, dict):
            raise Error(f"{path}:{number}: expected a JSON object, got {type(value).__name__}")
        value = _seconds_in(value)
        heads.update(dict.fromkeys(value))
        found.append(value)
    kinds = {name: "float" for name in heads if name in _FLOATS}
    return _typed(list(heads), [[value.get(name) for name in heads] for value in found], kinds)


# ---- tables of simulations


def _crc_table() -> list[int]:
    """CRC-32C (Castagnoli) of each byte."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def _crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


_SUM = re.compile(r'\{"sum":"([0-9a-f]{8})",')


def _records(root: str, *names: str) -> Iterator[tuple[int, Any]]:
    """The records of one file of a table, after their checksums."""
    path = os.path.join(root, *names)
    for number, line in _lines(root, *names):
        match = _SUM.match(line)
        if not match or int(match[1], 16) != _crc(line[match.end() :].encode()):
            raise Error(f"{path}:{number}: the line's checksum does not hold; 'graft table check' lists all faults")
        record = _parse_json(line, f"{path}:{number}").get("record")
        if record is not None:
            yield number, record


def _read_sequences(root: str, *names: str) -> Table:
    """A row for each run of a sequence: actions, seed, final accuracy, and seconds left at each decision."""
    folder = os.path.join(root, *names)
    scenario = _json(root, *names, "scenario.json")
    _check_format(folder, scenario)
    with _of_its_form(os.path.join(folder, "scenario.json")):
        decisions = range(_decisions(scenario["scenario"]))
    rows: list[list[Any]] = []
    seen: set[Any] = set()
    for file in sorted(name for name in _list(folder) if name.endswith(".jsonl")):
        for number, record in _records(root, *names, file):
            with _of_its_form(f"{folder}/{file}:{number}"):
                rows += _runs_of(record, decisions, seen)
    lefts = [f"left_{k + 1}_s" for k in decisions]
    heads = (
        [f"action_{k + 1}" for k in decisions]
        + ["sequence", "seed", "accuracy"]
        + lefts
        + ["profile", "graft", "libtorch"]
    )
    return _typed(heads, rows, {"accuracy": "float", **{name: "float" for name in lefts}})


def _decisions(scenario: Row) -> int:
    """The number of decisions of a scenario; one has at most a hundred."""
    decisions = scenario["decisions"]
    if not isinstance(decisions, int) or not 1 <= decisions <= 100:
        raise ValueError(f"decisions are 1 to 100, got {decisions}")
    return decisions


def _runs_of(record: Row, decisions: range, seen: set[Any]) -> Iterator[list[Any]]:
    """The runs of a record that were not seen in another one."""
    actions = record["sequence"]
    for seed, accuracy in zip(record["seeds"], record["accuracy"]):
        key = (tuple(actions), seed, record["key"])
        if key in seen:
            continue
        seen.add(key)
        yield [actions[k] for k in decisions] + [" ".join(actions), seed, accuracy] + [
            record["left_s"][k] for k in decisions
        ] + [record.get(name) for name in ("profile", "graft", "libtorch")]


# ---- configurations


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


def seconds(text: str) -> float:
    """The seconds of a duration of a configuration, such as "1m30s"."""
    parts = _PART.findall(text)
    if "".join(n + unit for n, unit in parts) != text.lstrip("+-") or not parts:
        raise Error(f'{text!r} is not a duration; expected such as "1m30s"')
    return (-1 if text.startswith("-") else 1) * math.fsum(float(n) * _UNITS[unit] for n, unit in parts)


def _read_config(root: str, *names: str) -> Row:
    """The values of a configuration by their keys, such as "optimizer.lr"."""
    text = _text(LARGEST_JSON, root, *names)
    try:
        tree = tomllib.loads(text) if tomllib else _Toml(text).document()
    except (ValueError, RecursionError) as err:
        raise Error(f"{os.path.join(root, *names)}: it is not valid TOML: {err}") from None
    flat: Row = {}
    _flatten(tree, "", flat)
    return flat


def _flatten(tree: Row, prefix: str, flat: Row) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{key}.", flat)
        else:
            flat[prefix + key] = value


class _Toml:
    """Reads TOML as graft writes it, for a Python without tomllib."""

    _token = re.compile(r'[ \t]*(?:#[^\n]*)?([\[\]{},=.\n]|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[^\s\[\]{},=#"\']+)')
    _key = re.compile(r'\s*("(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+)')

    def __init__(self, text: str) -> None:
        self.text, self.at, self.stop = text.replace("\r\n", "\n").rstrip() + "\n", 0, len(text)

    def document(self) -> Row:
        root: Row = {}
        table = root
        while (token := self._peek()) is not None:
            if token == "\n":
                self._next()
            elif token == "[":
                table = self._header(root)
            else:
                self._pair(table)
        return root

    def _fault(self, want: str, got: object) -> ValueError:
        line = self.text.count("\n", 0, self.at) + 1
        return ValueError(f"line {line}: expected {want}, got {got!r}")

    def _peek(self) -> str | None:
        match = self._token.match(self.text, self.at)
        if not match and self.text[self.at :].strip():
            raise self._fault("a value", self.text[self.at : self.at + 20])
        return match[1] if match else None

    def _next(self, want: str | None = None) -> str:
        match = self._token.match(self.text, self.at)
        got = match[1] if match else ""
        if not match or want not in (None, got):
            raise self._fault(want or "a value", got)
        self.at = match.end()
        return got

    def _skip_lines(self) -> None:
        while self._peek() == "\n":
            self._next()

    def _name(self) -> str:
        match = self._key.match(self.text, self.at)
        if not match:
            raise self._fault("a key", self.text[self.at : self.at + 20])
        self.at = match.end()
        return _unquoted(match[1])

    def _names(self) -> list[str]:
        names = [self._name()]
        while self._peek() == ".":
            self._next()
            names.append(self._name())
        return names

    def _header(self, root: Row) -> Row:
        self._next("[")
        many = self._peek() == "["
        if many:
            self._next()
        names = self._names()
        for _ in range(1 + many):
            self._next("]")
        self._next("\n")
        *parents, last = names
        table = _below(root, parents)
        if not many:
            return _below(table, [last])
        table.setdefault(last, []).append({})
        newest: Row = table[last][-1]
        return newest

    def _pair(self, table: Row) -> None:
        *parents, last = self._names()
        self._next("=")
        table = _below(table, parents)
        if last in table:
            raise self._fault("a new key", last)
        table[last] = self._value()

    def _value(self) -> Any:
        token = self._next()
        if token == "[":
            return self._array()
        if token == "{":
            return self._inline()
        if token[0] in "\"'":
            return _unquoted(token)
        if token in ("true", "false"):
            return token == "true"
        while self._peek() == ".":  # of a number
            token += self._next() + self._next()
        number = token.replace("_", "")
        try:
            return (
                int(number, 0)
                if re.match(r"[+-]?([0-9]+|0x[0-9A-Fa-f]+|0o[0-7]+|0b[01]+)\Z", number)
                else float(number)
            )
        except ValueError:
            raise self._fault("a value", token) from None

    def _array(self) -> list[Any]:
        values = []
        self._skip_lines()
        while self._peek() != "]":
            values.append(self._value())
            self._skip_lines()
            if self._peek() == ",":
                self._next()
                self._skip_lines()
            elif self._peek() != "]":
                raise self._fault("a comma", self._peek())
        self._next("]")
        return values

    def _inline(self) -> Row:
        table: Row = {}
        while self._peek() != "}":
            self._pair(table)
            if self._peek() == ",":
                self._next()
            elif self._peek() != "}":
                raise self._fault("a comma", self._peek())
        self._next("}")
        return table


def _below(table: Row, names: Iterable[str]) -> Row:
    """The table of these names within a table; the last one of a list."""
    for name in names:
        table = table.setdefault(name, {})
        if isinstance(table, list):
            table = table[-1]
        if not isinstance(table, dict):
            raise ValueError(f"key {name} is a value and a table")
    return table


def _unquoted(token: str) -> str:
    if token[0] == '"':
        plain: str = json.loads(re.sub(r"\\U([0-9A-Fa-f]{8})", lambda m: json.dumps(chr(int(m[1], 16)))[1:-1], token))
        return plain
    return token[1:-1] if token[0] == "'" else token


# ---- runs

# Kinds of runs. Each is followed by the files by which a folder is recognised whose manifest names no kind,
# as manifests of old versions do not; the first kind that fits.
_KINDS = [
    ("study", {"cells.csv", "parts.csv"}),  # cluster simulations; their manifest names the kind
    ("node-run", {"tasks.jsonl", "config.resolved.toml"}),
    ("node-profile", {"profile.csv", "manifest.json"}),
    ("simulation", {"grid.json"}),
    ("elastic-learning", {"learning.csv", "schedulers"}),
    ("elastic-comparison", {"comparison.csv", "manifest.json"}),
    ("elastic-cases", {"cases.csv", "manifest.json"}),
    ("policies", {"learning.csv", "learners"}),
    ("policy", {"learning.csv"}),
    ("job", {"epochs.csv"}),
    ("evaluation", {"verdicts.csv", "members.csv"}),
]
# Names that a manifest may have.
_WORLDS = {"rigid", "elastic", "adaptive", "fabric", "node"}
_NAMES = {"pipeline", "sweep"} | _WORLDS | {kind for kind, _ in _KINDS} - {"study"}


def _list(folder: StrPath) -> list[str]:
    """The names in a folder, sorted."""
    try:
        names: list[str] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) == MAX_ENTRIES:
                    raise Error(f"{folder}: it has more than {MAX_ENTRIES} entries; read a folder within it")
                names.append(entry.name)
        return sorted(names)
    except OSError as err:
        raise Error(f"{folder}: {err.strerror}; name a run folder") from err


def _folders(folder: StrPath) -> list[str]:
    """The folders in a folder; hidden ones, links and caches of simulations are left out."""
    names = _list(folder)
    if {"outcomes", "states"} <= set(names):
        return []
    paths = [os.path.join(folder, name) for name in names if not name.startswith(".")]
    return [path for path in paths if os.path.isdir(path) and not os.path.islink(path)]


def _named_kind(folder: str, names: Iterable[str]) -> str | None:
    """The kind that the manifest of a folder names; None for none, and where it cannot be read."""
    try:
        if "manifest.json" in names:
            manifest: Any = _json(folder, "manifest.json")
        elif "pipeline.json" in names:
            manifest = _json(folder, "pipeline.json").get("run")
        else:
            return None
    except Error:
        return None
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    known = isinstance(kind, str) and (kind in _NAMES or {"cells.csv", "parts.csv"} <= set(names))
    if kind and not known:
        raise Error(f"{folder}: unknown kind of run {kind!r} (made by a later graft?); take this module of that graft")
    return kind


def _guessed_kind(names: Iterable[str]) -> str | None:
    """The kind of run that a folder with these names is; None for no run."""
    names = set(names)
    for kind in ("pipeline", "sweep"):
        if f"{kind}.json" in names:
            return kind
    if "manifest.json" in names:
        return next((kind for kind, files in _KINDS if files <= names), "run")
    return "table" if "scenario.json" in names else None


# Table of a cluster simulation.
_CELLS = "cells.csv"


def _folders_below(folder: str, depth: int) -> list[str]:
    """The folders below a folder, to a depth."""
    found = _folders(folder) if depth else []
    return found + [inner for one in found for inner in _folders_below(one, depth - 1)]


class Run:
    """A run folder. Files are read when they are asked for, so a running job gives its newest rows."""

    def __init__(self, path: StrPath) -> None:
        self.path = os.path.abspath(path)
        self.name = os.path.basename(self.path)
        names = _list(self.path)
        # a name of _NAMES or table; run for others
        self.kind = _named_kind(self.path, names) or _guessed_kind(names)
        if self.kind is None:
            raise Error(
                f"{path}: it is not a run folder of graft; name one, or use find() for a folder of them. "
                "'graft table convert' converts tables of the original system"
            )

    def __repr__(self) -> str:
        return f"<{self.kind} {self.path}>"

    def _has(self, *names: str) -> bool:
        return os.path.lexists(os.path.join(self.path, *names))

    @property
    def ended(self) -> bool:
        """Whether the run is complete: it has an outcome, or its table has all sequences."""
        if self.kind in ("simulation", "table"):
            return self._table_folder() is not None and self._complete()
        if self.kind != "pipeline" or not self._has("outcome.json"):
            return self._has("outcome.json")
        journal = _json(self.path, "pipeline.json")
        with _of_its_form(os.path.join(self.path, "pipeline.json")):
            open_stages = [stage for stage in journal["stages"] if stage["state"] != "done"]
            return all(stage["state"] == "failed" and stage["stage"].startswith("simulate ") for stage in open_stages)

    def _complete(self) -> bool:
        """Whether a table has the planned sequences with all their seeds, as far as it alone can tell."""
        scenario, plan = self.scenario, {} if self.kind == "table" else _json(self.path, "grid.json")
        seeds: dict[str, set[int]] = {}
        table = self.table("sequences")
        for sequence, seed in zip(table["sequence"], table["seed"]):
            seeds.setdefault(sequence, set()).add(seed)
        with _of_its_form(os.path.join(self.path, "grid.json")):
            if plan.get("design", {}).get("which", "all") == "all":
                counted = len(scenario.get("actions") or ()) ** _decisions(scenario)
                if len(seeds) < (counted or scenario.get("sequences", 0)):
                    return False
            return bool(seeds) and all(len(found) >= len(plan.get("seeds") or ()) for found in seeds.values())

    @property
    def manifest(self) -> Row:
        """Version, seed, network and others at the begin, `created` as a datetime; empty where there is none."""
        if self.kind == "pipeline":
            manifest: Row = _json(self.path, "pipeline.json").get("run", {})
        elif self._has("manifest.json"):
            manifest = _json(self.path, "manifest.json")
        else:
            return {}
        _check_format(self.path, manifest)
        if "created" in manifest:
            manifest["created"] = _time(manifest["created"], self.path)
        return manifest

    @property
    def config(self) -> Row:
        """Every value of the configuration by its key, such as "optimizer.lr"; durations are texts for seconds()."""
        return _read_config(self.path, "config.resolved.toml") if self._has("config.resolved.toml") else {}

    @property
    def outcome(self) -> Row | None:
        """The outcome, with durations in seconds; None before the end."""
        written = self.kind not in ("simulation", "table") and self.ended
        return _seconds_in(_json(self.path, "outcome.json")) if written else None

    @property
    def tables(self) -> list[str]:
        """Names of the tables: files, such as "epochs" and "events", and "sequences" of a simulation."""
        found = [name for name in map(_table_name, _list(self.path)) if name] if self.kind != "table" else []
        folders = _folders_below(self.path, 3) if self._has(_CELLS) else []  # below a point and a workload
        for folder in folders:
            there = os.path.relpath(folder, self.path).replace(os.sep, "/")
            found += [f"{there}/{name}" for name in map(_table_name, _list(folder)) if name]
        return sorted(set(found) | ({"sequences"} if self._table_folder() is not None else set()))

    def _table_folder(self) -> tuple[str, ...] | None:
        """The folder of a simulation's table within the run; None if there is none."""
        if self.kind == "table":
            return ()
        return ("table",) if self._has("table", "scenario.json") else None

    def table(self, name: str) -> Table:
        """A table by its name."""
        if name not in self.tables:
            raise Error(f"{self.path}: no table {name!r}; there are: {', '.join(self.tables) or 'none'}")
        if name == "sequences":
            return _read_sequences(self.path, *(self._table_folder() or ()))
        if self._has(name + ".jsonl"):
            return _read_log(self.path, name + ".jsonl")
        return (_read_stream if self._is_stream(name + ".csv") else _read_csv)(self.path, *(name + ".csv").split("/"))

    def _is_stream(self, file: str) -> bool:
        """Whether a table is written row by row, with texts in quotes. Folders of earlier versions do not list them."""
        if "/" in file:
            return False
        listed = _json(self.path, "streams.json").get("streams") if self._has("streams.json") else None
        return not isinstance(listed, list) or file in listed

    @property
    def scenario(self) -> Row:
        """The scenario of a simulation or table: name, network, dataset, budget_s and others."""
        where = self._table_folder()
        if where is None:
            raise Error(f"{self.path}: it has no table of a simulation")
        scenario = _json(self.path, *where, "scenario.json").get("scenario")
        if not isinstance(scenario, dict):
            raise Error(f"{self.path}: scenario.json has no scenario; copy the file again")
        return scenario

    @property
    def parts(self) -> list[Run]:
        """The runs beneath this one, such as those of a pipeline."""
        return [run for folder in _folders(self.path) if os.path.basename(folder) != "table" for run in find(folder)]


def _table_name(file: str) -> str | None:
    name, dot, extension = file.rpartition(".")
    return name if dot and extension in ("csv", "jsonl") and not name.startswith(".") else None


def _time(text: object, path: str) -> datetime.datetime:
    """The time of a manifest, whose seconds have up to nine digits."""
    match = re.match(r"(\d+-\d+-\d+T\d+:\d+:\d+)(?:\.(\d+))?(Z|[+-]\d+:\d+)\Z", str(text))
    try:
        if match is None:
            raise ValueError("no match")
        when = datetime.datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00"))
        return when.replace(microsecond=int(((match[2] or "") + "000000")[:6]))
    except (TypeError, ValueError):
        raise Error(f"{path}: {text!r} is not a time") from None


def read(folder: StrPath) -> Run:
    """The run of a folder."""
    return Run(folder)


def find(folder: StrPath, skipped: list[Error] | None = None, depth: int = MAX_DEPTH) -> list[Run]:
    """The runs in a folder and the folders within it, sorted by path; runs within runs are their parts.

    A list that is passed as skipped receives the error of each folder that cannot be listed."""
    try:
        names = _list(folder)
        if _guessed_kind(names) is not None:
            return [Run(folder)]
        return [run for below in _folders(folder) for run in find(below, skipped, depth - 1)] if depth else []
    except Error as err:
        if skipped is None:
            raise
        skipped.append(err)
        return []


def text(run: Run, name: str) -> str:
    """The text of a file of a run, such as "events.jsonl"."""
    return _text(LARGEST_TABLE, run.path, name)


def numbers(tree: Mapping[str, Any] | None, prefix: str = "") -> dict[str, int | float]:
    """The numbers of nested objects, such as an outcome, by their keys: "test.accuracy". Lists are left out."""
    found = {}
    for key, value in (tree or {}).items():
        if isinstance(value, dict):
            found.update(numbers(value, f"{prefix}{key}."))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[prefix + key] = value
    return found


def outcomes(runs: Iterable[Run], keys: Iterable[str] = ()) -> Table:
    """A table with a row for each run: folder, kind, seed, keys of its configuration, numbers of its outcome."""
    found = []
    for run in runs:
        config = run.config
        row = {"run": run.path, "kind": run.kind, "ended": run.ended, "seed": run.manifest.get("seed")}
        row.update({key: config.get(key) for key in keys})
        row.update(numbers(run.outcome))
        found.append(row)
    heads = list(dict.fromkeys(name for row in found for name in row))
    return _typed(heads, [[row.get(name) for name in heads] for row in found])
