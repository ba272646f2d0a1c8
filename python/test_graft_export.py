"""Tests of graft_export that need PyTorch but no archive."""

from __future__ import annotations

import unittest
from typing import Any

try:
    import torch
except ImportError:  # the module itself needs it
    torch = None

import graft_export


@unittest.skipIf(torch is None, "left out: no PyTorch in this Python")
class Inputs(unittest.TestCase):
    def test_wrong_inputs_name_the_remedy(self) -> None:
        one, two = torch.zeros(1, 3), torch.zeros(2, 3)
        cases: list[tuple[Any, str]] = [
            (two, "pass a tuple"),
            ((two, two), "networks with one input"),
            ((one,), "give at least 2"),
        ]
        for inputs, says in cases:
            with self.assertRaisesRegex((TypeError, ValueError), says):
                graft_export._checked(inputs, batch=True)
        self.assertEqual(len(graft_export._checked([two], batch=True)), 1)
        self.assertEqual(len(graft_export._checked((one,), batch=False)), 1)


if __name__ == "__main__":
    unittest.main()
