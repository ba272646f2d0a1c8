"""Fits boosted trees to made-up rows of two classes, and prints the seconds that it took."""

import argparse
import os
import time

import numpy
import xgboost

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--trees", type=int, default=100)
parser.add_argument("--depth", type=int, default=6)
parser.add_argument("--rows", type=int, default=10_000)
parser.add_argument("--features", type=int, default=20)
options = parser.parse_args()

device = "cuda" if os.environ.get("CUDA_VISIBLE_DEVICES") else "cpu"
random = numpy.random.default_rng(1)
rows = random.normal(size=(options.rows, options.features)).astype(numpy.float32)
classes = rows[:, 0] * rows[:, 1] + rows[:, 2] + 0.5 * random.normal(size=options.rows) > 0
train = options.rows * 4 // 5
start = time.perf_counter()
trees = xgboost.train(
    {"objective": "binary:logistic", "tree_method": "hist", "device": device, "max_depth": options.depth},
    xgboost.DMatrix(rows[:train], classes[:train]),
    options.trees,
)
took = time.perf_counter() - start
right = (trees.predict(xgboost.DMatrix(rows[train:])) > 0.5) == classes[train:]
print(f"{options.trees} trees on {device}: {took:.2f} s, accuracy {right.mean():.3f}")
