"""Tests of graft_job without graft."""

from __future__ import annotations

import inspect
import types
import unittest
import warnings
from typing import Any

try:
    import torch
except ImportError:
    torch = None


def train(net: Any, opt: Any, steps: int) -> None:
    for _ in range(steps):
        opt.zero_grad()
        net(torch.tensor([[1.0, 2.0, 3.0]])).square().sum().backward()
        opt.step()


def copied(item: Any) -> Any:
    return item.clone() if isinstance(item, torch.Tensor) else item


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

    def test_surgery_keeps_the_state_of_unchanged_parameters(self) -> None:
        """The first layer stays, the second gets another row, and a third layer is new."""
        import graft_job

        kinds = {
            "SGD": {"momentum": 0.9},
            "Adam": {"amsgrad": True},
            "AdamW": {},
            "NAdam": {},
            "RAdam": {},
            "RMSprop": {"momentum": 0.5, "centered": True},
            "Adagrad": {"initial_accumulator_value": 0.1},
            "Adadelta": {},
            "Adamax": {},
            "Rprop": {},
            "ASGD": {},
            "Adafactor": {},
        }
        for kind, options in kinds.items():
            if not hasattr(torch.optim, kind):
                continue
            with self.subTest(kind), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2, bias=False))
                opt = getattr(torch.optim, kind)(net.parameters(), lr=0.1, **options)
                train(net, opt, 2)
                names = {id(value): name for name, value in net.named_parameters()}
                job = types.SimpleNamespace(_net=net, _opt=opt, _names=names)
                before = {key: copied(item) for key, item in opt.state[net[0].weight].items()}
                values: dict[str, Any] = {}
                for prefix, key in graft_job._moments(opt):
                    values[prefix + "0.weight"] = copied(opt.state[net[0].weight][key])
                    values[prefix + "0.bias"] = copied(opt.state[net[0].bias][key])
                    values[prefix + "1.weight"] = torch.ones(3, 4)
                    values[prefix + "2.weight"] = torch.ones(1, 3)
                net[1].weight = torch.nn.Parameter(torch.ones(3, 4))
                job._names[id(net[1].weight)] = "1.weight"
                net.add_module("2", torch.nn.Linear(3, 1, bias=False))
                counts = {"0.weight": 2, "0.bias": 2, "1.weight": 2, "2.weight": 2}
                graft_job._Attached._follow(job, values, counts, unchanged={"0.weight", "0.bias"})
                after = opt.state[net[0].weight]
                self.assertEqual(set(after), set(before))
                for key, item in before.items():
                    self.assertTrue(torch.equal(torch.as_tensor(after[key]), torch.as_tensor(item)), key)
                restarts = [str(one.message) for one in caught if "starts again" in str(one.message)]
                self.assertEqual(len(restarts), int(not graft_job._moments(opt)))
                if restarts:
                    self.assertIn(f"the state of {kind} starts again", restarts[0])
                    self.assertIn(": 1.weight, 2.weight", restarts[0])
                if kind == "NAdam":
                    for key in ("step", "mu_product"):
                        self.assertAlmostEqual(float(opt.state[net[2].weight][key]), float(before[key]), places=6)
                train(net, opt, 1)  # the optimizer accepts the state
                self.assertEqual(float(after.get("step", 3)), 3)

                graft_job._Attached._follow(job, values, dict.fromkeys(counts, 0), unchanged={"0.weight", "0.bias"})
                kept = set(opt.state[net[0].weight]) - {key for _, key in graft_job._moments(opt)}
                self.assertLessEqual(kept, {"step", "mu_product", "max_exp_avg_sq", "sum"}, "a count of 0 resets")

    def test_losses_may_be_on_several_devices(self) -> None:
        import graft_job

        self.assertEqual(graft_job._numbers([torch.tensor(1.0), torch.tensor([2.0], dtype=torch.bfloat16)]), [1.0, 2.0])
        self.assertEqual(graft_job._numbers([]), [])
        with self.assertRaisesRegex((NotImplementedError, RuntimeError), "meta"):  # all were moved to the device
            graft_job._numbers([torch.tensor(1.0), torch.tensor(2.0, device="meta")])


if __name__ == "__main__":
    unittest.main()
