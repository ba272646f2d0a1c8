"""Lets graft drive a PyTorch training loop: the budget, the devices, surgery and checkpoints.

    import graft_job

    job = graft_job.attach(epochs=10)     # without graft: a stand-in that runs 10 epochs
    net, opt = job.begin(Net(), lambda p: torch.optim.AdamW(p, lr=1e-3), example_inputs)
    while job.running():
        for x, y in job.batches(loader):
            loss = criterion(net(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
            net, opt = job.step(loss, examples=len(x))
        job.validated(loss=..., accuracy=...)

'graft train job.toml' starts the program that the section [program] of the job's file names. Surgery changes the
network and the optimizer in place, between two batches, so other references to them stay valid.

A program of several processes (torchrun) calls torch.distributed.init_process_group before attach, and wraps the network
with job.wrap(DistributedDataParallel) after begin. All processes make the same calls.

Needs Python 3.9 and PyTorch 2.5 or later, and nothing else.
"""

from __future__ import annotations

import ctypes
import datetime
import faulthandler
import gc
import hashlib
import inspect
import json
import os
import random
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
import types
import warnings
from typing import Any, Callable, Collection, Iterable, Iterator, Optional, Sequence, Union

import torch
from torch.utils import _pytree as pytree

PROTOCOL = 1
_LARGEST = 16 << 20  # bytes of a message
_VARIABLE = "GRAFT_PROGRAM"  # number and inode of the inherited socket
_FOLDER = "GRAFT_PROGRAM_FOLDER"  # folder with the socket for programs that do not inherit it

_TYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}

State = dict[str, Any]

_LOST = "graft_job: graft has ended; 'graft train --resume' continues the job"


class Stopped(SystemExit):
    """Ends a program whose graft process has ended."""


def attach(epochs: int = 1, seed: int = 0) -> "Job":
    """Returns the job of the graft process that started this program.

    If no graft process started it, returns a stand-in: it runs the given number of epochs and changes nothing.
    """
    inherited = os.environ.pop(_VARIABLE, "")  # processes that this program starts are not attached
    folder = os.environ.pop(_FOLDER, "")
    if not inherited:
        return Job(epochs, seed)
    return _Attached(inherited, folder)


class Job:
    """Training loop without graft: runs a fixed number of epochs. Each method behaves as under graft."""

    def __init__(self, epochs: int = 1, seed: int = 0) -> None:
        self.seed = seed  # seed for the program's random numbers: run.seed of the job's file under graft
        self.epoch = 0  # number of completed epochs
        self.changes = 0  # number of changes of the network by surgery
        self.teacher: Optional[Callable[..., Any]] = None  # larger network after a down event, for the loss
        self.teacher_share = 0.0  # weight of the teacher's part of the loss, which falls to zero
        self.rank, self.world = _place()  # number of this process, and number of processes that train together
        self.devices = self.world  # number of devices of the job
        self._epochs = epochs
        self._net: Any = None
        self._wrapped: Any = None  # what wrap made of the network
        self._opt: Any = None
        self._rate: Optional[float] = None
        self._position = 0  # batches of the epoch that were yielded

    @property
    def attached(self) -> bool:
        """Reports whether graft drives the program."""
        return False

    def begin(
        self,
        net: torch.nn.Module,
        optimizer: Union[torch.optim.Optimizer, Callable[[Any], torch.optim.Optimizer]],
        example_inputs: Union[torch.Tensor, Sequence[Any], dict[str, Any]],
        dynamic_shapes: Any = None,
    ) -> tuple[Any, Any]:
        """Registers the network and its optimizer, or a function that makes one from the parameters.

        example_inputs holds the network's arguments for a batch of at least 2 examples, on the network's device: a
        tensor, a sequence of arguments, or a dictionary of keyword arguments. dynamic_shapes is passed on to
        torch.export; by default, the size of the batch may change and no other size. Returns the network and the
        optimizer, which hold the saved state if the job resumes.
        """
        if isinstance(net, torch.nn.DataParallel) or hasattr(net, "_orig_mod") or type(net).__name__.startswith(
            "DistributedDataParallel"
        ):
            raise TypeError(f"graft_job: net is a {type(net).__name__}; pass the plain network, and wrap it after begin")
        if isinstance(optimizer, (list, tuple)):
            raise TypeError("graft_job: optimizer is a list; pass one optimizer, with several groups if needed")
        if not isinstance(optimizer, torch.optim.Optimizer):
            optimizer = optimizer(net.parameters())
        self._net, self._opt = net, optimizer
        return net, optimizer

    def register(self, name: str, thing: Any) -> Any:
        """Saves and restores an object with the job: it has state_dict and load_state_dict, or get_state and set_state.

        Call it after begin and before the loop. To replace an object, such as an average of weights after surgery,
        register the new one under the same name. Returns the object.
        """
        return thing

    def wrap(self, wrapper: Callable[[Any], Any]) -> Any:
        """Wraps the network, for example in DistributedDataParallel. Call it after begin.

        Returns a module that calls wrapper(network). The module stays the same object: after surgery, it calls a new
        wrapper.
        """
        self._wrapped = _Wrapped(wrapper(self._net))
        return self._wrapped

    def running(self) -> bool:
        """Reports whether another epoch begins."""
        return self.epoch < self._epochs

    def batches(self, loader: Iterable[Any]) -> "_Batches":
        """Returns an iterable. Each loop over it yields the batches of an epoch; the budget may end the epoch early.

        It has the loader's length, so it can also replace the loader of a library that owns the loop. If the loader
        has a method set_epoch, each loop calls it with the number of completed epochs.
        """
        return _Batches(self, loader)

    @property
    def position(self) -> int:
        """Number of batches of the current epoch that were yielded, including batches before a resume."""
        return self._position

    def trained(self) -> None:
        """Ends the training of an epoch.

        Only loops that count batches need this call, before validation: they do not ask for a batch after the last.
        """

    def step(self, loss: Any, examples: int = 0, correct: Optional[int] = None) -> tuple[Any, Any]:
        """Ends the training step of a batch. Returns the network, wrapped if wrap was called, and the optimizer.

        examples and correct count the batch's examples and its correct predictions. Without correct, the training
        accuracy is unknown. Without examples, each batch counts as a full batch of the loader, also the last one.
        """
        return self._now(), self._opt

    def _now(self) -> Any:
        return self._net if self._wrapped is None else self._wrapped

    def validated(self, loss: Optional[float], accuracy: float = 0.0) -> None:
        """Ends an epoch with the scores on the validation data. Accuracy is between 0 and 1.

        graft averages the scores of several processes. A process that does not validate passes loss=None.
        """
        self.epoch += 1
        self._position = 0

    def _batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        _set_epoch(loader, self.epoch)
        self._position = 0
        for batch in loader:
            self._position += 1
            yield batch

    def rate(self) -> Optional[float]:
        """Returns the learning rate of graft's schedule for the next step; None without graft."""
        return self._rate


class _Batches:
    """Loader whose loops run through a job."""

    def __init__(self, job: Job, loader: Iterable[Any]) -> None:
        self._job, self._loader = job, loader

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        return self._job._batches(self._loader)


def lightning_callback(job: Job, example_inputs: Any) -> Any:
    """Returns a callback for the Trainer of PyTorch Lightning 2, whose module has the network as its attribute net.

    Train on job.batches(loader). The module must log val_loss in validation_step, and may log val_accuracy.
    """
    import lightning  # type: ignore[import-not-found,unused-ignore]

    class Graft(lightning.Callback):  # type: ignore[misc]
        def setup(self, trainer: Any, module: Any, stage: Any) -> None:  # the callback validates and ends the loop
            trainer.fit_loop.max_epochs, trainer.check_val_every_n_epoch = -1, 1 << 62

        def on_fit_start(self, trainer: Any, module: Any) -> None:
            job.begin(module.net, trainer.optimizers[0], example_inputs.to(module.device))
            for k, config in enumerate(trainer.lr_scheduler_configs):
                job.register(f"schedule {k}", config.scheduler)

        def on_train_batch_start(self, trainer: Any, *_: Any) -> None:  # a resumed job starts within an epoch
            trainer.fit_loop.epoch_loop.batch_progress.current.ready = job.position

        def on_train_batch_end(self, trainer: Any, module: Any, outputs: Any, *_: Any) -> None:
            job.step(outputs["loss"])

        def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
            job.trained()
            trainer.validating = True
            trainer.fit_loop.epoch_loop.val_loop.run()
            trainer.training = True
            scores = trainer.callback_metrics
            job.validated(scores["val_loss"], scores.get("val_accuracy", 0))
            trainer.should_stop = not job.running()

    return Graft()


def drive_trainer(job: Job, trainer: Any, example_inputs: Any) -> Any:
    """Lets a job drive a Trainer of Hugging Face, whose model has the network as its attribute net. Returns it.

    The Trainer evaluates after each epoch (eval_strategy="epoch") and saves nothing (save_strategy="no").
    """
    import transformers  # type: ignore[import-not-found,unused-ignore]

    loader, step = trainer.get_train_dataloader, trainer.training_step
    last: list[Any] = []

    def training_step(*args: Any, **kwargs: Any) -> Any:
        last[:] = [step(*args, **kwargs)]
        return last[0]

    trainer.get_train_dataloader, trainer.training_step = lambda: job.batches(loader()), training_step

    class Graft(transformers.TrainerCallback):  # type: ignore[misc]
        def on_train_begin(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
            job.begin(parts["model"].net, parts["optimizer"].optimizer, example_inputs.to(args.device))
            job.register("schedule", parts["lr_scheduler"])

        def on_step_end(self, *_: Any, **parts: Any) -> None:
            job.step(last[0])

        def on_epoch_end(self, *_: Any, **parts: Any) -> None:
            job.trained()

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any, **parts: Any) -> None:
            job.validated(metrics["eval_loss"], metrics.get("eval_accuracy", 0))
            control.should_training_stop = not job.running()

    trainer.add_callback(Graft())
    return trainer


class _Attached(Job):
    """Job that a graft process drives over a socket. The two sides take turns: a report, then an order."""

    def __init__(self, inherited: str, folder: str) -> None:
        super().__init__()
        number = _inherited(inherited)
        self._ranks = _Ranks(self.rank, self.world)
        if number is None or self.world > 1:
            _watch(folder)
            _note_failure(folder, self.rank)
        if self.rank == 0:
            self._socket = _connect(number, folder)
            self._lines = self._socket.makefile("rb")
        self._process = os.getpid()
        self._make: Optional[Callable[[Any], Any]] = None  # wraps the network
        self._compare = _COMPARED  # orders after which the weights of the processes are compared
        self._whole: Optional[State] = None  # size of an epoch of all ranks together
        self._objects: dict[str, Any] = {}
        self._inputs: tuple[Any, Any] = ((), {})  # arguments of the network: positional, and by keyword
        self._call: Optional[_Call] = None
        self._names: dict[int, str] = {}  # names of the parameters, by id
        self._own = True  # the program's own module runs, not a generated one
        self._order: State = {"do": "none"}  # work that graft ordered last
        self._left = 0  # steps left in the order
        self._losses: list[Any] = []
        self._correct: list[int] = []
        self._examples: list[int] = []
        self._facts: Optional[State] = None  # size of an epoch
        self._open = False  # a batch was yielded and its step has not ended
        self._began: Optional[State] = None  # random state at the start of the epoch; None between epochs
        self._resumed: Optional[State] = None  # saved state, until its place in the epoch is reached
        self._saved_objects: State = {}
        self._waiting = False  # graft waits for the first epoch
        self._scores: Optional[State] = None
        self._lesson: Optional[State] = None  # source and tensors of the teacher
        self._folder = ""
        order = self._exchange({"hello": PROTOCOL, "torch": torch.__version__, "python": sys.version.split()[0]})
        if order.get("protocol") != PROTOCOL:
            raise RuntimeError(
                f"graft_job: this file speaks protocol {PROTOCOL}, but graft speaks {order.get('protocol')}; "
                "copy graft_job.py from the installed version of graft"
            )
        self.seed, self._folder, self.devices = order["seed"], order["folder"], order["devices"]
        self._ranks.silence = order["silence"]

    @property
    def attached(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> "_Attached":
        """Returns the job itself: a copy of the network holds the hook that remembers its inputs."""
        return self

    def _exchange(self, report: State) -> State:
        """Sends a report and waits for the next order."""
        if os.getpid() != self._process:
            raise RuntimeError("graft_job: a forked child called the job; only the first process may do so")
        order = self._ranks.exchange(report, self._talk)
        if order["do"] == "lost":
            if self.rank > 0:
                raise Stopped(0)  # the first process reports; until then the launcher must not end it
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)  # a killed graft leaves it behind
            raise Stopped(_LOST)
        if order["do"] == "stop":
            raise Stopped(0)
        return order

    def _talk(self, report: State) -> State:
        """Sends a report to graft and returns the next order."""
        try:
            self._socket.sendall(json.dumps(report, allow_nan=False).encode() + b"\n")
            line = self._lines.readline(_LARGEST)
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            return {"do": "lost"}
        order: State = {"do": "hello", **json.loads(line)}
        return order

    def _await(self, report: State) -> None:
        """Reports, serves graft's requests, and keeps the next order of work."""
        order = self._exchange(report)
        while order["do"] in self._requests:
            order = self._exchange(self._requests[order["do"]](self, order))
        self._order, self._left = order, order.get("steps", 0)
        self.devices = order.get("devices", self.devices)
        if order["do"] == "train" and not order["shares"]:
            self.teacher, self._lesson, self.teacher_share = None, None, 0.0

    # The loop

    def begin(
        self,
        net: torch.nn.Module,
        optimizer: Union[torch.optim.Optimizer, Callable[[Any], torch.optim.Optimizer]],
        example_inputs: Union[torch.Tensor, Sequence[Any], dict[str, Any]],
        dynamic_shapes: Any = None,
    ) -> tuple[Any, Any]:
        if self._net is not None:
            raise RuntimeError("graft_job: begin was called twice")
        net, opt = super().begin(net, optimizer, example_inputs)
        self._names = {id(value): name for name, value in net.named_parameters()}
        others = sum(id(value) not in self._names for group in opt.param_groups for value in group["params"])
        if others:
            raise ValueError(f"graft_job: the optimizer holds {others} parameters that net does not have; remove them")
        self._inputs = _bound(net, *_arguments(example_inputs))
        _check_examples(self._inputs)
        before = _random_state()
        path = os.path.join(self._folder, "network.pt2")
        self._call = _export(net, self._inputs, dynamic_shapes, path if self.rank == 0 else None)
        _set_random_state(before)
        if self._call is None:
            net.register_forward_pre_hook(lambda module, args: self._remember(module, args, {}))
        else:
            net.register_forward_pre_hook(self._remember, with_kwargs=True)
        order = self._exchange({"network": path, "optimizer": _described(opt)})
        if order["do"] == "restore":
            self._restore(order)
        self._waiting = True
        return net, opt

    def _remember(self, module: Any, args: Any, kwargs: Any) -> None:
        """Keeps the inputs of the last training batch, on which the outputs before and after surgery are compared."""
        if module is not self._net or not module.training:
            return
        if self._call is None:
            if args and isinstance(args[0], torch.Tensor):
                self._inputs = args[:1], {}
        elif self._call.fits(args, kwargs):
            self._inputs = self._call.bind(args, kwargs)

    def register(self, name: str, thing: Any) -> Any:
        if self._net is None:
            raise RuntimeError("graft_job: call begin before register")
        if not (hasattr(thing, "state_dict") or hasattr(thing, "get_state")):
            raise TypeError(f"graft_job: {name} has neither state_dict nor get_state")
        self._objects[name] = thing
        if name in self._saved_objects:
            saved = self._saved_objects.pop(name)
            if self._ranks.keeps(_state_of(thing)):
                return thing
            thing.load_state_dict(saved) if hasattr(thing, "load_state_dict") else thing.set_state(saved)
        return thing

    def wrap(self, wrapper: Callable[[Any], Any]) -> Any:
        if self._net is None:
            raise RuntimeError("graft_job: call begin before wrap")
        self._make = wrapper
        return super().wrap(wrapper)

    def running(self) -> bool:
        if self._net is None:
            raise RuntimeError("graft_job: call begin before running")
        if self._scores is not None:
            report, self._scores = self._scores, None
            self._began = None
            self._await(report)
        elif self._order["do"] == "evaluate" or (self._position > 0 and self._resumed is None):
            raise RuntimeError("graft_job: an epoch ended without job.validated(loss=..., accuracy=...)")
        return bool(self._order["do"] != "end")

    def _batches(self, loader: Iterable[Any]) -> Iterator[Any]:
        source = self._start(loader)
        while True:
            if self._left == 0 and self._order["do"] == "train":
                self._await(self._trained())
            if self._order["do"] != "train":
                return  # at the epoch's last batch, or with the budget
            try:
                batch = next(source)
            except StopIteration:
                raise RuntimeError(
                    f"graft_job: the loader ended after {self._position} batches; its length says otherwise"
                ) from None
            self._position += 1
            self._open = True
            rates, shares = self._order["rates"], self._order["shares"]
            self._rate = rates[len(rates) - self._left]
            if shares:
                self.teacher_share = shares[len(shares) - self._left]
            yield batch
            if self._open:
                raise RuntimeError(f"graft_job: batch {self._position} of the epoch ended without job.step(loss)")

    def _start(self, loader: Iterable[Any]) -> Iterator[Any]:
        """Starts an epoch, or continues it at the saved batch."""
        facts = _facts(loader)
        if self._facts is not None and facts != self._facts:
            raise RuntimeError(f"graft_job: the loader has {facts}; the job began with {self._facts}")
        self._facts, self._position = facts, 0
        resumed, self._resumed = self._resumed, None
        if self._waiting:
            whole = self._ranks.whole(facts)
            if resumed:
                resumed["position"] = _position(whole, resumed)
            self._whole = whole
        if resumed:
            # A scheduler that was made after begin has set its first rate.
            for group, saved in zip(self._opt.param_groups, resumed["groups"]):
                for key, item in saved.items():  # a rate can be a tensor on the device
                    on_device = isinstance(item, torch.Tensor) and isinstance(group.get(key), torch.Tensor)
                    group[key] = item.to(group[key].device) if on_device else item
            if not resumed["fresh"]:
                _set_random_state(resumed["began"] or resumed["random"])
        self._began = _random_state()
        _set_epoch(loader, self.epoch)
        source = iter(loader)
        if resumed and resumed["began"]:
            for _ in range(resumed["position"]):
                next(source)
            self._position = resumed["position"]
            if not resumed["fresh"]:
                _set_random_state(resumed["random"])
        if self._waiting:
            self._waiting = False
            self._await({"epoch": self._whole, "position": self._position})
        return source

    def step(self, loss: Any, examples: int = 0, correct: Optional[int] = None) -> tuple[Any, Any]:
        if not self._open:
            raise RuntimeError("graft_job: call step once for each batch of job.batches(loader)")
        self._open = False
        self._losses.append(loss.detach() if isinstance(loss, torch.Tensor) else torch.tensor(float(loss)))
        self._correct.append(-1 if correct is None else int(correct))
        self._examples.append(int(examples))
        self._left -= 1
        return self._now(), self._opt

    def trained(self) -> None:
        if self._order["do"] == "train" and self._left == 0 and not self._open:
            self._await(self._trained())

    def _trained(self) -> State:
        """Reports the steps of an order."""
        losses = _numbers(self._losses)
        report = {
            "losses": [_finite(loss) for loss in losses],
            "correct": self._correct,
            "examples": self._examples,
            "rate": float(self._opt.param_groups[0]["lr"]),
        }
        self._losses, self._correct, self._examples = [], [], []
        if self._compare > 0:
            self._compare -= 1
            report["weights"] = self._ranks.sums(self._net)
        return report

    def validated(self, loss: Optional[float], accuracy: float = 0.0) -> None:
        if self._order["do"] == "end" and self._began is not None:
            self._position = 0  # the resumed job had no step left
            return
        if self._order["do"] != "evaluate" or self._scores is not None:
            raise RuntimeError(
                "graft_job: call validated once after each loop over job.batches(loader), which must run to its end; "
                "call job.trained() first if the loop counts batches"
            )
        if loss is None and self.world == 1:
            raise ValueError("graft_job: loss is None; expected a number")
        accuracy = float(accuracy)
        if not 0 <= accuracy <= 1:
            raise ValueError(f"graft_job: accuracy is {accuracy}; expected a number between 0 and 1")
        super().validated(loss, accuracy)
        self._scores = {"loss": None if loss is None else float(loss), "accuracy": accuracy}
        self._scores["weights"] = self._ranks.sums(self._net)
        self._position = 0

    # Requests

    def _pull(self, order: State) -> State:
        """Writes the network's tensors and the optimizer's moments."""
        tensors = _tensors(self._net)
        counts = {}
        for name, value in self._net.named_parameters():
            state = self._opt.state.get(value, {})
            moments = {prefix + name: state[key] for prefix, key in _moments(self._opt) if state.get(key) is not None}
            tensors.update(moments)
            stepped = any(item is not None for item in state.values())
            counts[name] = int(state["step"]) if "step" in state else int(stepped)
        path = os.path.join(self._folder, "pulled.safetensors")
        if self.rank == 0:
            _write(path, tensors, "")
        return {"tensors": path, "counts": counts}

    def _push(self, order: State) -> State:
        """Replaces the network and the optimizer's state in place."""
        values, _ = _read(order["tensors"])
        before = _outputs(self._net, self._inputs)
        if order.get("teacher"):
            self._teach({"source": order["teacher"], "tensors": order["teacher_tensors"]})
        module = _generated(order["source"], order["tensors"], self._call)
        unchanged = {name for name, value in self._net.named_parameters() if name in values and _same(values[name], value)}
        self._own = _replace(self._net, module, values, self._inputs, self._own, self._ranks.all)
        self._follow(values, order["counts"], unchanged=unchanged)
        self.changes += 1
        self._compare = _COMPARED
        _outdate(self._net)
        if self._make is not None:
            self._wrapped.made = self._make(self._net)
        after = _outputs(self._net, self._inputs)
        moved = max((float((x.double() - y.double()).abs().max()) for x, y in zip(before, after)), default=0.0)
        return {"own": self._own, "moved": _finite(moved)}

    def _follow(
        self,
        values: State,
        counts: dict[str, int],
        saved: Optional[dict[str, int]] = None,
        unchanged: Collection[str] = (),
    ) -> None:
        """Gives the optimizer the network's parameters, in their groups, and their state.

        Moments come from values. All other state of unchanged parameters stays; for the other parameters it starts
        again. A count of zero resets the state of a parameter. saved holds the groups of a saved job's parameters, by
        name.
        """
        opt, shapes = self._opt, {}
        groups = {}  # by the names of parameters
        before = {self._names[id(value)]: state for value, state in opt.state.items() if id(value) in self._names}
        whole = type(opt).__name__ == "LBFGS"  # one state describes all parameters
        keep = {name: before[name] for name in unchanged if name in before and counts.get(name) and not whole}
        restarted = []
        for k, group in enumerate(opt.param_groups):
            for value in group["params"]:
                name = self._names[id(value)]
                groups[name], shapes[name] = k, value.dim()
            group["params"] = []
        groups.update({name: k for name, k in (saved or {}).items() if k < len(opt.param_groups)})
        opt.state.clear()
        for name, value in self._net.named_parameters():
            value.grad = None
            group = opt.param_groups[groups[name] if name in groups else _nearest(name, value.dim(), groups, shapes)]
            group["params"].append(value)
            moments = {
                key: values[prefix + name].to(value.device, value.dtype)
                for prefix, key in _moments(opt)
                if prefix + name in values
            }
            if "exp_avg" in moments:
                on_device = group.get("capturable") or group.get("fused")
                moments["step"] = torch.tensor(float(counts[name]), device=value.device if on_device else "cpu")
            state = {**keep.get(name, {}), **moments}
            if name not in keep:
                state.update(_begun(opt, group, value, state))
            if state:
                opt.state[value] = state
            if name not in keep and not moments and before and type(opt).__name__ != "SGD":
                restarted.append(name)
        if restarted and saved is None:
            warnings.warn(
                f"graft_job: the state of {type(opt).__name__} starts again for parameters that surgery changed: "
                + ", ".join(restarted)
            )
        self._names = {id(value): name for name, value in self._net.named_parameters()}

    def _save(self, order: State) -> State:
        """Writes all other state: random numbers, position, hyperparameters, registered objects and teacher."""
        tensors: State = {}
        state = {
            "facts": self._facts,
            "epoch": self.epoch,
            "changes": self.changes,
            "position": self._position,
            "began": self._began,
            "random": _random_state(),
            "own": self._own,
            "groups": [{k: v for k, v in group.items() if k != "params"} for group in self._opt.param_groups],
            "members": self._members(),
            "optimizer": self._rest(),
            "steps": self._steps(),
            "objects": {name: _state_of(thing) for name, thing in self._objects.items()},
            "inputs": self._inputs,
            "source": None,
            "world": self.world,
            "whole": self._whole,
        }
        path = os.path.join(self._folder, "state.safetensors")
        state["ranks"] = self._ranks.differences(state, self._net)
        if self.rank > 0:
            return {"state": path, "weights": self._ranks.sums(self._net)}
        if self._lesson is not None:
            state["source"] = self._lesson["source"]
            tensors.update({"teacher/" + name: value for name, value in self._lesson["values"].items()})
        text = json.dumps(_encode(state, tensors), allow_nan=False)
        _write(path, tensors, text)
        return {"state": path, "weights": self._ranks.sums(self._net)}

    def _members(self) -> dict[str, int]:
        """Returns the group of each of the optimizer's parameters, by name."""
        groups = enumerate(self._opt.param_groups)
        return {self._names[id(value)]: k for k, group in groups for value in group["params"]}

    def _rest(self) -> dict[str, State]:
        """Returns the optimizer's state of each parameter, by name, except what graft keeps: moments and steps."""
        moments = [key for _, key in _moments(self._opt)]
        kept = [*moments, "step"] if "exp_avg" in moments else moments
        rest = {}
        for name, value in self._net.named_parameters():
            state = self._opt.state.get(value, {})
            others = {key: item for key, item in state.items() if key not in kept}
            rest[name] = {key: item for key, item in others.items() if _saves(item)}
            lost = sorted(str(key) for key in others if key not in rest[name])
            if lost:  # the default filter prints equal warnings once
                warnings.warn(f"graft_job: cannot save {', '.join(lost)} of the optimizer; a resumed job lacks them")
        return {name: state for name, state in rest.items() if state}

    def _steps(self) -> list[str]:
        """Returns the names of the parameters whose count of steps is a tensor on an accelerator, as in ASGD."""
        counts = {name: self._opt.state.get(value, {}).get("step") for name, value in self._net.named_parameters()}
        return [name for name, count in counts.items() if isinstance(count, torch.Tensor) and not count.is_cpu]

    def _restore_rest(self, rest: dict[str, State], steps: Sequence[str]) -> None:
        """Gives the optimizer the state that _rest has returned, with the types that it had.

        As in torch.optim.Optimizer.load_state_dict, tensors go to the device of their parameter. Only counts of steps
        stay on the CPU, unless the optimizer is capturable or fused, or had them on an accelerator: see _steps.
        """
        groups = {id(value): group for group in self._opt.param_groups for value in group["params"]}
        for name, value in self._net.named_parameters():
            group = groups.get(id(value), {})
            on_device = bool(group.get("capturable") or group.get("fused") or name in steps)
            for key, item in rest.get(name, {}).items():
                self._opt.state[value][key] = _placed(item, value.device, on_device, key)

    def _restore(self, order: State) -> None:
        """Continues a saved job."""
        tensors, text = _read(order["state"])
        state, buffers = self._ranks.own(_decode(json.loads(text), tensors))
        self._facts, self.epoch, self.changes = state["facts"], state["epoch"], state["changes"]
        device = next(self._net.parameters()).device
        self._inputs = pytree.tree_map(lambda v: v.to(device) if isinstance(v, torch.Tensor) else v, state["inputs"])
        values, _ = _read(order["tensors"])
        module = _generated(order["source"], order["tensors"], self._call)
        self._own = _replace(self._net, module, values, self._inputs, state["own"], self._ranks.all)
        self._follow(values, order["counts"], state.get("members"))
        self._restore_rest(state.get("optimizer", {}), state.get("steps", []))
        for name, value in self._net.named_buffers():
            if name in buffers:
                _fill(value, buffers[name].to(value.device))
        self._saved_objects, self._resumed = state["objects"], state
        if state["source"] is not None:
            path = os.path.join(self._folder, f"teacher-{self.rank}.safetensors")
            _write(path, {name[8:]: value for name, value in tensors.items() if name.startswith("teacher/")}, "")
            self._teach({"source": state["source"], "tensors": path})

    def _teach(self, lesson: State) -> None:
        """Offers a larger network as a teacher."""
        teacher = _generated(lesson["source"], lesson["tensors"], self._call)
        values, _ = _read(lesson["tensors"])
        teacher.load({name: values[name] for name in teacher.held if name in values})
        teacher.to(next(self._net.parameters()).device).eval().requires_grad_(False)
        self.teacher = torch.no_grad()(teacher)
        self._lesson = {"source": lesson["source"], "values": {name: values[name] for name in teacher.held}}

    _requests: dict[str, Callable[..., State]] = {"pull": _pull, "push": _push, "save": _save}


# Processes


def _place() -> tuple[int, int]:
    """Returns the number of this process, and the number of processes that train together."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


class _Ranks:
    """The processes that train together. Their messages go through a group of their own, on the CPU."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._saved = size  # processes when the job was saved
        self.silence = 0.0  # seconds after which graft ends a program that sends no message; zero if unknown
        if size == 1:
            return
        distributed = torch.distributed
        if not (distributed.is_available() and distributed.is_initialized()):
            raise RuntimeError(
                f"graft_job: WORLD_SIZE is {size}; call torch.distributed.init_process_group before graft_job.attach"
            )
        if int(os.environ.get("LOCAL_WORLD_SIZE", size)) != size:
            raise RuntimeError("graft_job: the processes run on several machines; start all of them on one machine")
        # A decision may take long; program.silence limits how long graft waits for the program.
        self._group = distributed.new_group(backend="gloo", timeout=datetime.timedelta(days=7))

    def _everyone(self, call: str, value: Any) -> list[Any]:
        """Returns the values of all processes, in all processes, which must make the same call."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        try:
            torch.distributed.all_gather_object(values, (call, value), group=self._group)
        except RuntimeError as error:
            raise RuntimeError(f"graft_job: rank {self.rank} lost another process in {call}: {error}") from None
        for rank, (other, _) in enumerate(values):
            if other != values[0][0]:
                raise RuntimeError(
                    f"graft_job: rank 0 called {values[0][0]}, but rank {rank} called {other}; all processes must make "
                    "the same calls"
                )
        return [value for _, value in values]

    def _first(self, value: Any) -> Any:
        """Returns the value of the first process."""
        values = [value]
        if self.size > 1:
            torch.distributed.broadcast_object_list(values, src=0, group=self._group)
        return values[0]

    def all(self, condition: bool) -> bool:
        """Reports whether a condition holds in all processes."""
        return all(self._everyone("batches", condition))

    def exchange(self, report: State, talk: Callable[[State], State]) -> State:
        """Lets the first process send the common report to graft, and returns the order in all processes."""
        kind = next(iter(report))
        reports = self._everyone(_CALLS.get(kind, kind), report)
        fault = _disagreement(reports)
        if fault:
            raise RuntimeError(f"graft_job: {fault}")
        self._alarm(0)  # a decision may take long
        order: State = self._first(talk(_merged(reports)) if self.rank == 0 else None)
        self._alarm(0.9 * self.silence)
        return order

    def _alarm(self, seconds: float) -> None:
        """Lets a process print where it is after a time, because it may wait for another one in vain. Zero cancels."""
        if self.size == 1:
            return
        if seconds > 0:
            faulthandler.dump_traceback_later(seconds)
        else:
            faulthandler.cancel_dump_traceback_later()

    def whole(self, facts: State) -> State:
        """Returns the size of an epoch of all processes together."""
        everyone = self._everyone("batches", facts)
        if len({each["steps"] for each in everyone}) > 1:
            lengths = ", ".join(str(each["steps"]) for each in everyone)
            raise RuntimeError(
                f"graft_job: the loaders of ranks 0 to {self.size - 1} have different lengths: {lengths} batches; use a "
                "DistributedSampler, or drop_last"
            )
        return {"steps": facts["steps"], "batch": sum(each["batch"] for each in everyone)}

    def sums(self, net: Any) -> dict[str, int]:
        """Returns the sum of the bits of each parameter, to compare processes. Returns none for one process."""
        return {name: _bits(value) for name, value in net.named_parameters()} if self.size > 1 else {}

    def differences(self, state: State, net: Any) -> list[State]:
        """Returns, in the first process, the entries of the state that differ in each of the other processes."""
        if self.size == 1:
            return []
        entries = {key: value for key, value in state.items() if key not in ("objects", "inputs")}
        entries.update({"objects/" + name: value for name, value in state["objects"].items()})
        entries["buffers"] = dict(net.named_buffers())
        prints = {key: _fingerprint(value) for key, value in entries.items()}
        first = self._first(prints)
        packed = {key: _packed(value) for key, value in entries.items() if prints[key] != first.get(key)}
        return [{key: _unpacked(*pack) for key, pack in each.items()} for each in self._everyone("batches", packed)[1:]]

    def own(self, state: State) -> tuple[State, State]:
        """Returns this process's saved state and buffers. A process that is new has those of the first process."""
        self._saved, others = state.get("world", 1), state.get("ranks", [])
        state["objects"], buffers = dict(state["objects"]), {}
        if 0 < self.rank < self._saved:
            for key, value in others[self.rank - 1].items():
                if key == "buffers":
                    buffers = value
                elif key.startswith("objects/"):
                    state["objects"][key[8:]] = value
                else:
                    state[key] = value
        if self._saved != self.size:
            state["whole"], state["facts"] = state.get("whole") or state["facts"], None
        state["fresh"] = self.keeps(_random_state())
        return state, buffers

    def keeps(self, fresh: Any) -> bool:
        """Reports whether this process keeps a state of its own instead of the saved state of the first process.

        A new process does so if the two began with different states, such as generators with different seeds.
        """
        if self._saved >= self.size:
            return False
        prints = self._everyone("register", _fingerprint(fresh))
        return self.rank >= self._saved and bool(prints[self.rank] != prints[0])


_COMPARED = 3  # a program that drops its wrapper in job.step does so after the first step

_CALLS = {"hello": "attach", "network": "begin", "epoch": "batches", "losses": "step", "loss": "validated"}


def _disagreement(reports: list[State]) -> str:
    """Describes how the reports of the processes contradict each other. Returns an empty text if they do not."""
    for rank, report in enumerate(reports):
        steps = len(report.get("losses", ())), len(reports[0].get("losses", ()))
        if steps[0] != steps[1]:
            return f"rank 0 took {steps[1]} steps, but rank {rank} took {steps[0]}"
        own, first = report.get("weights", {}), reports[0].get("weights", {})
        differing = [name for name in first if own.get(name) != first[name]]
        if differing:
            return (
                f"ranks 0 and {rank} have different weights after a training step, first in {differing[0]}; call "
                "net = job.wrap(DistributedDataParallel) after begin, and use this net in the loss"
            )
    return ""


def _merged(reports: list[State]) -> State:
    """Returns the report of all processes together: means of losses, sums of counts."""
    merged = {key: value for key, value in reports[0].items() if key != "weights"}
    if "losses" in merged:
        merged["losses"] = [_mean(step) for step in zip(*(report["losses"] for report in reports))]
        counts = zip(*(report["correct"] for report in reports))
        merged["correct"] = [-1 if min(step) < 0 else sum(step) for step in counts]  # -1 means unknown
        sizes = zip(*(report["examples"] for report in reports))
        merged["examples"] = [sum(step) if min(step) > 0 else 0 for step in sizes]  # 0 means unknown
    if "loss" in merged:
        scored = [report for report in reports if report["loss"] is not None]
        merged["loss"] = _mean([report["loss"] for report in scored])
        merged["accuracy"] = _mean([report["accuracy"] for report in scored]) or 0.0
    if "moved" in merged:
        moved = [report["moved"] for report in reports]
        merged["moved"] = None if None in moved else max(moved)
    return merged


def _mean(values: Sequence[Optional[float]]) -> Optional[float]:
    """Returns the mean, exactly if all values are equal, or None if one is missing or not finite."""
    numbers = [value for value in values if value is not None]
    if not numbers or len(numbers) < len(values):
        return None
    same = all(value == numbers[0] for value in numbers)
    return _finite(numbers[0] if same else sum(numbers) / len(numbers))


def _position(whole: State, saved: State) -> int:
    """Returns the place in an epoch, in batches, of a state that may be saved with another number of processes."""
    before = saved.get("whole") or whole
    position: int = saved["position"]
    if before == whole:
        return position
    if position == before["steps"]:
        return int(whole["steps"])
    return int(min(position * before["batch"] // whole["batch"], whole["steps"]))


def _bits(value: Any) -> int:
    """Returns the sum of the bits of a tensor."""
    value = value.detach().contiguous().reshape(-1)
    kind = {1: torch.int8, 2: torch.int16, 4: torch.int32}.get(value.element_size(), torch.int64)
    return int(value.view(kind).sum(dtype=torch.int64))


def _packed(value: Any) -> tuple[str, State]:
    """Returns a value as text and tensors on the CPU."""
    tensors: State = {}
    text = json.dumps(_encode(value, tensors), allow_nan=False)
    return text, {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}


def _unpacked(text: str, tensors: State) -> Any:
    return _decode(json.loads(text), tensors)


def _fingerprint(value: Any) -> str:
    """Returns a digest of a value."""
    text, tensors = _packed(value)
    digest = hashlib.sha256(text.encode())
    for tensor in tensors.values():
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
        size = tensor.numel() * tensor.element_size()
        if size:
            digest.update((ctypes.c_char * size).from_address(tensor.data_ptr()))
    return digest.hexdigest()


def _inherited(variable: str) -> Optional[int]:
    """Returns the descriptor of the socket that graft passed on, or None if a launcher closed it."""
    number, inode = (int(part) for part in variable.split(":"))
    try:
        return number if os.fstat(number).st_ino == inode else None
    except OSError:
        return None


def _connect(number: Optional[int], folder: str) -> socket.socket:
    """Returns the socket to graft: the inherited one, or a connection to the one in the session's folder."""
    if number is not None:
        os.set_inheritable(number, False)
        return socket.socket(fileno=number)
    link = socket.socket(socket.AF_UNIX)
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # the name of the folder may be too long for a socket
        try:
            link.connect(f"/proc/self/fd/{place}/socket")
        finally:
            os.close(place)
    except OSError as error:
        raise RuntimeError(
            f"graft_job: cannot connect to graft ({error}); only one process may attach, and only once: torchrun must "
            "not restart processes (--max-restarts 0)"
        ) from None
    return link


_PATIENCE = 5.0  # seconds to exit after graft has ended


def _watch(folder: str) -> None:
    """Ends this process and its children after the end of graft, even if it waits for another process.

    A launcher gives its processes groups of their own, so they do not end with the launcher.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: torchrun's main thread starts processes
    pipe = os.open(os.path.join(folder, "alive"), os.O_RDONLY | os.O_NONBLOCK)
    try:
        ended = os.read(pipe, 1) == b""
    except BlockingIOError:
        ended = False
    if ended:
        shutil.rmtree(folder, ignore_errors=True)
        raise Stopped(_LOST)
    os.set_blocking(pipe, True)

    def wait() -> None:
        os.read(pipe, 1)  # graft writes nothing; its end closes the pipe
        time.sleep(_PATIENCE)
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def _note_failure(folder: str, rank: int) -> None:
    """Keeps the error of the first process that fails: messages of the other ones and of the launcher follow it."""
    before = sys.excepthook

    def note(kind: Any, value: Any, trace: Any) -> None:
        text = "".join(traceback.format_exception(kind, value, trace))[-3000:]
        try:
            with open(os.path.join(folder, "failure.txt"), "x") as file:
                file.write(f"rank {rank}:\n{text}")
        except OSError:  # another process was first
            pass
        before(kind, value, trace)

    sys.excepthook = note


class _Wrapped(torch.nn.Module):  # type: ignore[misc]  # mypy does not read PyTorch
    """Network in a wrapper, such as DistributedDataParallel, that surgery replaces."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.made(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("made"), name)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self.made.state_dict(*args, **kwargs)

    def load_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        return self.made.load_state_dict(*args, **kwargs)


def _outdate(net: Any) -> None:
    """Lets wrappers of a changed network fail: they would synchronize only the parameters that it had before."""
    if not torch.distributed.is_available():
        return
    for module in _around(net):
        if isinstance(module, torch.nn.parallel.DistributedDataParallel):
            module.register_forward_pre_hook(_outdated)


def _around(module: Any) -> list[Any]:
    """Returns the modules that contain a module."""
    found: list[Any] = []
    inner = [module]
    while inner:
        children = [thing for thing in gc.get_referrers(*inner) if issubclass(type(thing), dict)]
        owners = gc.get_referrers(*children)  # modules, or the dictionaries of their attributes
        owners += gc.get_referrers(*[thing for thing in owners if type(thing) is dict])
        outer = {id(thing): thing for thing in owners if issubclass(type(thing), torch.nn.Module)}
        inner = [
            thing
            for thing in outer.values()
            if any(thing._modules is part for part in children) and not any(thing is known for known in found)
        ]
        found += inner
    return found


def _outdated(module: Any, inputs: Any) -> None:
    raise RuntimeError(
        "graft_job: this DistributedDataParallel was made before surgery changed the network; call "
        "net = job.wrap(DistributedDataParallel) after begin, or make it again when job.changes has changed"
    )



def _numbers(losses: list[Any]) -> list[float]:
    """Returns the values of losses, which may be on several devices, with one transfer."""
    if not losses:
        return []
    device = next((loss.device for loss in losses if not loss.is_cpu), losses[0].device)
    numbers: list[float] = torch.stack([loss.reshape(()).to(device).double() for loss in losses]).tolist()
    return numbers


def _finite(value: float) -> Optional[float]:
    """Returns a number for JSON, which has neither NaN nor infinities: None."""
    return value if value - value == 0 else None


def _facts(loader: Any) -> State:
    """Describes an epoch of a loader."""
    try:
        steps = len(loader)
    except TypeError:
        raise TypeError("graft_job: the loader has no length; pass a DataLoader, or an object with __len__") from None
    if steps == 0:
        raise ValueError("graft_job: the loader is empty")
    batch = getattr(loader, "batch_size", None) or getattr(getattr(loader, "batch_sampler", None), "batch_size", 0)
    return {"steps": steps, "batch": batch or 1}


def _set_epoch(loader: Any, epoch: int) -> None:
    """Tells a loader that shuffles by the number of the epoch, such as the ones of accelerate, this number."""
    if hasattr(loader, "set_epoch"):
        loader.set_epoch(epoch)


# Modules


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns example inputs as positional arguments and keyword arguments."""
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, dict) or hasattr(inputs, "keys"):
        return (), dict(inputs)
    return tuple(inputs), {}


def _bound(net: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns arguments as positional ones, as far as the signature of the network allows."""
    bound = inspect.signature(net.forward).bind(*args, **kwargs)
    return bound.args, bound.kwargs


def _check_examples(inputs: tuple[Any, Any]) -> None:
    first = next((value for value in pytree.tree_flatten(inputs)[0] if isinstance(value, torch.Tensor)), None)
    if first is None or first.dim() == 0 or first.shape[0] < 2:
        raise ValueError("graft_job: the first tensor of example_inputs must be a batch of at least 2 examples")


class _Call:
    """Arguments and outputs of a network whose generated code takes a list of tensors and returns tensors.

    Generated code takes only the tensors among the arguments, in order; other arguments have the values at export.
    """

    def __init__(self, net: Any, inputs: tuple[Any, Any], program: Any) -> None:
        # A copy of the network's signature: generated code replaces its forward.
        self._signature = inspect.signature(net.forward)
        leaves, self._inputs = pytree.tree_flatten(inputs)
        self._fixed = [None if isinstance(leaf, torch.Tensor) else (leaf,) for leaf in leaves]
        self._outputs = program.call_spec.out_spec
        specs = [spec.arg for spec in program.graph_signature.output_specs if spec.kind.name == "USER_OUTPUT"]
        self._constants = [(arg.value,) if hasattr(arg, "value") else None for arg in specs]

    def bind(self, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        bound = self._signature.bind(*args, **kwargs)
        return bound.args, bound.kwargs

    def fits(self, args: Any, kwargs: Any) -> bool:
        """Reports whether generated code supports the arguments."""
        leaves, spec = pytree.tree_flatten(self.bind(args, kwargs))
        return bool(spec == self._inputs) and all(
            isinstance(leaf, torch.Tensor) if fixed is None else _same(leaf, fixed[0])
            for leaf, fixed in zip(leaves, self._fixed)
        )

    def tensors(self, args: Any, kwargs: Any) -> list[Any]:
        """Returns the arguments of generated code."""
        if not self.fits(args, kwargs):
            raise TypeError(
                "graft_job: after surgery, the network runs the code that torch.export recorded with example_inputs, "
                "but it was called with other arguments; pass the arguments of the training loop to job.begin"
            )
        leaves, _ = pytree.tree_flatten(self.bind(args, kwargs))
        return [leaf for leaf, fixed in zip(leaves, self._fixed) if fixed is None]

    def outputs(self, values: Any) -> Any:
        """Returns the outputs of generated code in the network's own structure."""
        rest = iter([values] if isinstance(values, torch.Tensor) else values)
        leaves = [next(rest) if constant is None else constant[0] for constant in self._constants]
        return pytree.tree_unflatten(leaves, self._outputs)


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)


def _export(net: Any, inputs: tuple[Any, Any], dynamic: Any, path: Optional[str]) -> Optional[_Call]:
    """Exports the network in eval mode, into a file if it has a path. Returns None if it takes and returns one tensor."""
    if not hasattr(torch, "export"):
        raise RuntimeError(f"graft_job: PyTorch {torch.__version__} has no torch.export; install 2.5 or later")
    export = torch.export.export
    if torch.__version__.startswith("2.5."):  # there, export replaces operators by simpler ones
        export = getattr(torch.export, "export_for_training")
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        if dynamic is None:
            dynamic = _dynamic(net, inputs)
        program = export(net, inputs[0], inputs[1], dynamic_shapes=dynamic)
    finally:
        for module, training in modes:
            module.training = training
    if path is not None:
        torch.export.save(program, path)
    call = _Call(net, inputs, program)
    plain = len(inputs[0]) == 1 and not inputs[1] and isinstance(inputs[0][0], torch.Tensor)
    return None if plain and program.call_spec.out_spec == pytree.tree_flatten(torch.empty(0))[1] else call


def _dynamic(net: Any, inputs: tuple[Any, Any]) -> State:
    """Lets the size of the batch change, in all tensors that have it as their first size."""
    batch = next(v for v in pytree.tree_flatten(inputs)[0] if isinstance(v, torch.Tensor)).shape[0]
    size = torch.export.Dim("batch")

    def described(value: Any) -> Any:
        shared = isinstance(value, torch.Tensor) and value.dim() > 0 and value.shape[0] == batch
        return {0: size} if shared else None

    bound = inspect.signature(net.forward).bind(*inputs[0], **inputs[1])
    shapes = {}
    for name, value in bound.arguments.items():
        described_value = pytree.tree_map(described, value)
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            shapes.update(described_value)
        else:
            shapes[name] = described_value
    return shapes


def _generated(source: str, weights: str, call: Optional[_Call]) -> Any:
    """Makes the module that graft generated. It reads its constants from the file of weights."""
    module = types.ModuleType("graft_generated")
    module.__file__ = weights
    exec(compile(source, "<network generated by graft>", "exec"), module.__dict__)
    kind = module.Network
    if call is not None:
        forward = kind.forward
        kind.forward = lambda self, *args, **kwargs: call.outputs(forward(self, *call.tensors(args, kwargs)))
    return kind()


def _tensors(net: Any) -> State:
    """Returns the parameters and buffers, including tied and unsaved ones, by name."""
    tensors = {}
    for path, module in net.named_modules(remove_duplicate=False):  # one module may have several names
        for leaf, value in [*module._parameters.items(), *module._buffers.items()]:
            if value is not None:
                tensors[f"{path}.{leaf}" if path else leaf] = value
    return tensors


def _outputs(net: Any, inputs: tuple[Any, Any]) -> list[Any]:
    """Returns the outputs in eval mode that are tensors of floating-point numbers."""
    modes = [(module, module.training) for module in net.modules()]
    net.eval()
    try:
        with torch.no_grad():
            outputs = net(*inputs[0], **inputs[1])
    finally:
        for module, training in modes:
            module.training = training
    leaves, _ = pytree.tree_flatten(outputs)
    return [value for value in leaves if isinstance(value, torch.Tensor) and value.is_floating_point()]


def _replace(
    net: Any, generated: Any, values: State, inputs: tuple[Any, Any], own: bool, everywhere: Callable[[bool], bool]
) -> bool:
    """Makes net compute what the generated module computes. Returns whether net's own code still runs.

    If surgery changed only sizes, net keeps its code and modules. It takes over the generated code if its own code
    does not produce the same outputs, because it contains a size, for example. everywhere reports whether a condition
    holds in all processes.
    """
    first = next(net.parameters())
    saved = {name for name in generated.held if name not in generated.constants}
    generated.load({name: values[name] for name in generated.held if name in values})
    generated.to(first.device).train(net.training)
    if own and saved == set(net.state_dict()):
        _resize(net, {name: values[name] for name in saved})
        if everywhere(_agree(net, generated, inputs)):
            return True
    _take_over(net, generated)
    return False


def _agree(net: Any, generated: Any, inputs: tuple[Any, Any]) -> bool:
    """Reports whether two modules have equal outputs, up to rounding."""
    try:
        ours, theirs = _outputs(net, inputs), _outputs(generated, inputs)
    except Exception:  # code of the program; the generated module replaces it
        return False
    return len(ours) == len(theirs) > 0 and all(_close(x, y) for x, y in zip(ours, theirs))


def _close(ours: Any, theirs: Any) -> bool:
    if ours.shape != theirs.shape:
        return False
    # A coarser limit would accept an epsilon that surgery has changed, for example.
    limit = 16 * torch.finfo(theirs.dtype).eps * (1 + theirs.double().abs().max())
    return bool((ours.double() - theirs.double()).abs().max() <= limit)


def _owner(net: Any, name: str) -> tuple[Any, str]:
    path, _, leaf = name.rpartition(".")
    return (net.get_submodule(path) if path else net), leaf


def _resize(net: Any, values: State) -> None:
    """Gives the tensors of net other sizes and values. They stay the same objects."""
    for name, value in values.items():
        owner, leaf = _owner(net, name)
        old = getattr(owner, leaf)
        _fill(old, value.to(old.device, old.dtype))
        if leaf == "weight":
            _set_sizes(owner, value.shape)


def _fill(tensor: Any, value: Any) -> None:
    """Gives a tensor other values, possibly of another size. References to it stay valid."""
    if tensor.shape == value.shape:
        with torch.no_grad():
            tensor.copy_(value)
        return
    tensor.grad = None
    # Autograd remembers the old shape until the type of the data changes.
    other = torch.float64 if value.dtype != torch.float64 else torch.float32
    tensor.data = torch.empty(0, dtype=other, device=value.device)
    tensor.data = value


def _set_sizes(module: Any, shape: Sequence[int]) -> None:
    """Sets the attributes of a module of PyTorch that repeat the shape of its weight."""
    nn = torch.nn
    if isinstance(module, nn.Linear):
        module.out_features, module.in_features = shape
    elif isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)):
        module.in_channels, module.out_channels = shape[0], shape[1] * module.groups
    elif isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        if module.groups > 1 and module.groups == module.in_channels and shape[1] == 1:
            module.groups = shape[0]  # depthwise
        module.out_channels, module.in_channels = shape[0], shape[1] * module.groups
    elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
        module.num_features = shape[0]
    elif isinstance(module, nn.LayerNorm):
        module.normalized_shape = tuple(shape)
    elif isinstance(module, nn.GroupNorm):
        module.num_channels = shape[0]
    elif isinstance(module, nn.Embedding):
        module.num_embeddings, module.embedding_dim = shape


def _take_over(net: Any, generated: Any) -> None:
    """Gives net the code and modules of the generated module. net stays the same object, with its hooks and methods."""
    old = _tensors(net)
    for name, (module, leaf) in generated.held.items():
        new = getattr(module, leaf)
        if name in old and leaf in module._parameters:
            _fill(old[name], new.detach().to(old[name].dtype))
            module._parameters[leaf] = old[name]
    kind = type(net)
    base = getattr(kind, "_graft_base", kind)
    code = type(generated)
    net.__class__ = type(
        base.__name__, (base,), {"_graft_base": base, "forward": code.forward, "tensors": code.tensors}
    )
    net.held = {
        name: (net if module is generated else module, leaf) for name, (module, leaf) in generated.held.items()
    }
    net._modules, net._parameters, net._buffers = generated._modules, generated._parameters, generated._buffers
    net._non_persistent_buffers_set = generated._non_persistent_buffers_set


# Optimizers


def _described(opt: Any) -> State:
    """Describes an optimizer: its class, and the hyperparameters of its first group that graft knows."""
    group = opt.param_groups[0]
    known = ("lr", "betas", "eps", "weight_decay", "momentum", "dampening", "nesterov")
    options = {key: group[key] for key in known if key in group}
    return {"kind": type(opt).__name__, **{k: float(v) if isinstance(v, torch.Tensor) else v for k, v in options.items()}}


def _moments(opt: Any) -> tuple[tuple[str, str], ...]:
    """Returns the prefixes of moments in files, and their keys in an optimizer's state."""
    kind = type(opt).__name__
    if kind in ("Adam", "AdamW", "NAdam", "RAdam"):
        return ("first/", "exp_avg"), ("second/", "exp_avg_sq")
    return (("first/", "momentum_buffer"),) if kind == "SGD" else ()


def _begun(opt: Any, group: State, value: Any, state: State) -> State:
    """Returns state that an optimizer does not create itself for a changed parameter.

    state holds the moments and the count of steps; it is empty if the state starts again.
    """
    kind = type(opt).__name__
    if kind in ("Adam", "AdamW") and group.get("amsgrad") and state:
        return {"max_exp_avg_sq": state["exp_avg_sq"].clone()}
    if kind == "NAdam" and state:  # a product over the steps, the same for all parameters
        product, decay = 1.0, group["momentum_decay"]
        for step in range(1, int(state["step"]) + 1):
            product *= group["betas"][0] * (1 - 0.5 * 0.96 ** (step * decay))
            if product == 0:
                break
        return {"mu_product": torch.tensor(product, device=state["step"].device)}
    if kind == "Adagrad":  # the constructor creates it
        step = torch.tensor(0.0, device=value.device if group.get("fused") else "cpu")
        return {"step": step, "sum": torch.full_like(value, group["initial_accumulator_value"]).detach()}
    return {}


def _same(ours: Any, theirs: Any) -> bool:
    """Reports whether a tensor of a file has the shape and the values of a parameter."""
    return ours.shape == theirs.shape and torch.equal(ours.to(theirs.device, theirs.dtype), theirs)


def _placed(item: Any, device: Any, steps: bool, key: Any = None) -> Any:
    """Moves the tensors of a state to a device. Counts of steps move only if steps is true."""
    if isinstance(item, torch.Tensor):
        return item if key == "step" and not steps else item.to(device)
    if isinstance(item, dict):
        return {k: _placed(v, device, steps, k) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return type(item)(_placed(v, device, steps) for v in item)
    return item


def _nearest(name: str, dims: int, groups: dict[str, int], shapes: dict[str, int]) -> int:
    """Returns the group of a new parameter: the one of the parameter with the most similar name.

    Parameters with as many dimensions come first, because weight decay often depends on that.
    """

    def similarity(other: str) -> tuple[bool, int]:
        return shapes[other] == dims, len(os.path.commonprefix([name, other]))

    return groups[max(groups, key=similarity)]


# State


def _state_of(thing: Any) -> Any:
    """Returns the state of a registered object."""
    return thing.state_dict() if hasattr(thing, "state_dict") else thing.get_state()


def _random_state() -> State:
    """Returns the state of the global random number generators."""
    state: State = {"torch": torch.get_rng_state(), "python": random.getstate()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state_all()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, *rest = numpy.random.get_state()
        state["numpy"] = [kind, [int(key) for key in keys], *rest]
    return state


def _set_random_state(state: State) -> None:
    torch.set_rng_state(state["torch"])
    random.setstate(state["python"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy" in state:
        kind, keys, *rest = state["numpy"]
        numpy.random.set_state((kind, numpy.array(keys, dtype=numpy.uint32), *rest))


def _encode(value: Any, tensors: State) -> Any:
    """Turns nested state into JSON; its tensors are added to a dictionary."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else {"float": repr(value)}
    if isinstance(value, torch.Tensor):
        name = f"tensor/{len(tensors)}"
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[_encode(k, tensors), _encode(v, tensors)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_encode(item, tensors) for item in value]}
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of NumPy
        return _encode(value.item(), tensors)
    raise TypeError(f"graft_job: cannot save a value of type {type(value).__name__} in the state of the job")


def _saves(value: Any) -> bool:
    """Returns whether _encode and _write can save a value."""
    tensors: State = {}
    try:
        _encode(value, tensors)
    except TypeError:
        return False
    return all(item.dtype in _NAMES and type(item) is torch.Tensor for item in tensors.values())


def _decode(value: Any, tensors: State) -> Any:
    """Inverts _encode."""
    if not isinstance(value, dict):
        return value
    ((kind, body),) = value.items()
    if kind == "dict":
        return {_decode(k, tensors): _decode(v, tensors) for k, v in body}
    if kind == "tensor":
        return tensors[body]
    if kind == "float":
        return float(body)
    items = [_decode(item, tensors) for item in body]
    return tuple(items) if kind == "tuple" else items


def _write(path: str, tensors: State, text: str) -> None:
    """Writes tensors as safetensors, with a text in the metadata."""
    header: State = {"__metadata__": {"state": text}}
    values, end = [], 0
    for name, value in tensors.items():
        value = value.detach().to("cpu").contiguous()
        size = value.numel() * value.element_size()
        header[name] = {"dtype": _NAMES[value.dtype], "shape": list(value.shape), "data_offsets": [end, end + size]}
        end += size
        values.append((value, size))
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    with open(path, "wb") as out:
        out.write(len(encoded).to_bytes(8, "little"))
        out.write(encoded)
        for value, size in values:
            if size:
                out.write((ctypes.c_char * size).from_address(value.data_ptr()))


def _read(path: str) -> tuple[State, str]:
    """Reads tensors and the text in the metadata from a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = bytearray(file.read())
    text = header.pop("__metadata__", {}).get("state", "")
    tensors = {}
    for name, entry in header.items():
        (start, end), kind = entry["data_offsets"], _TYPES[entry["dtype"]]
        if start == end:
            tensors[name] = torch.empty(entry["shape"], dtype=kind)
        else:
            tensors[name] = torch.frombuffer(data[start:end], dtype=kind).reshape(entry["shape"])
    return tensors, text
