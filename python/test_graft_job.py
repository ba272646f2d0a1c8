"""Tests of graft_job without graft."""

from __future__ import annotations

import unittest

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


if __name__ == "__main__":
    unittest.main()
