"""Tests of graft_job without graft."""

from __future__ import annotations

import inspect
import types
import unittest
from typing import Any

try:
    import torch
except ImportError:
    torch = None


class Loader(list[int]):
    epochs: list[int] = []

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)


@unittest.skipIf(torch is None, "left out: no PyTorch in this Python")
class Loops(unittest.TestCase):
    def test_batches_replace_a_loader(self) -> None:
        import graft_job

        job, loader = graft_job.attach(epochs=2), Loader([3, 4, 5])
        batches = job.batches(loader)
        positions = []
        while job.running():
            for _ in batches:
                positions.append(job.position)
            job.trained()
            job.validated(loss=0.0)
        self.assertEqual(len(batches), 3)
        self.assertEqual(positions, [1, 2, 3, 1, 2, 3])
        self.assertEqual(loader.epochs, [0, 1])
        self.assertEqual(job.position, 0)

    def test_a_module_may_have_several_names(self) -> None:
        import graft_job

        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        net.add_module("again", net[0])
        self.assertEqual(set(graft_job._tensors(net)), set(net.state_dict()))

    def test_restored_state_is_on_the_device_of_its_parameter(self) -> None:
        """The device "meta" stands for a GPU: tensors on it are not on the CPU."""
        import graft_job

        def restored(kind: str, saved: dict[str, Any], steps: list[str], **options: Any) -> Any:
            net = torch.nn.Linear(2, 2, bias=False, device="meta")
            opt = getattr(torch.optim, kind)(net.parameters(), **options)
            job = types.SimpleNamespace(_net=net, _opt=opt)
            graft_job._Attached._restore_rest(job, {"weight": saved}, steps)
            return opt.state[net.weight]

        number = torch.tensor(3.0)
        averages = {"step": number, "eta": number, "mu": number, "ax": torch.ones(2, 2)}
        state = restored("ASGD", averages, ["weight"])
        self.assertEqual({key: item.device.type for key, item in state.items()}, dict.fromkeys(averages, "meta"))
        state = restored("NAdam", {"step": number, "mu_product": number}, [])
        self.assertEqual([item.device.type for item in state.values()], ["cpu", "meta"])
        if "capturable" in inspect.signature(torch.optim.NAdam).parameters:
            state = restored("NAdam", {"step": number}, [], capturable=True)
            self.assertEqual(state["step"].device.type, "meta")
        state = restored("LBFGS", {"old_dirs": [torch.ones(4)], "nested": {"d": number, "step": number}, "n_iter": 2}, [])
        self.assertEqual(state["old_dirs"][0].device.type, "meta")
        self.assertEqual([item.device.type for item in state["nested"].values()], ["meta", "cpu"])
        self.assertEqual(state["n_iter"], 2)

    def test_counts_of_steps_on_a_device_are_named(self) -> None:
        import graft_job

        net = torch.nn.Linear(2, 2, device="meta")
        opt = torch.optim.ASGD(net.parameters())
        opt.state[net.weight] = {"step": torch.tensor(1.0, device="meta")}
        opt.state[net.bias] = {"step": torch.tensor(1.0)}
        job = types.SimpleNamespace(_net=net, _opt=opt)
        self.assertEqual(graft_job._Attached._steps(job), ["weight"])

    def test_losses_may_be_on_several_devices(self) -> None:
        import graft_job

        self.assertEqual(graft_job._numbers([torch.tensor(1.0), torch.tensor([2.0], dtype=torch.bfloat16)]), [1.0, 2.0])
        self.assertEqual(graft_job._numbers([]), [])
        with self.assertRaisesRegex((NotImplementedError, RuntimeError), "meta"):  # all were moved to the device
            graft_job._numbers([torch.tensor(1.0), torch.tensor(2.0, device="meta")])


if __name__ == "__main__":
    unittest.main()
