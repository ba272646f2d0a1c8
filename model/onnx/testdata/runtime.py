"""Runs ONNX models in ONNX Runtime, and prints the models whose results differ from the expected ones."""
import json
import sys

import numpy as np
import onnxruntime

folder = sys.argv[1]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 3


def values(name, shape):
    return np.fromfile(f"{folder}/{name}", dtype="<f4").reshape(shape)


def fault(case):
    name = case["file"]
    x = values(name + ".in", case["dims"])
    session = onnxruntime.InferenceSession(f"{folder}/{name}.onnx", options, providers=["CPUExecutionProvider"])
    got = session.run(None, {"input": x.astype(np.int64) if case["whole"] else x})[0]
    want = values(name + ".out", case["shape"])
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if not np.allclose(got.astype(np.float64), want, rtol=1e-4, atol=1e-5, equal_nan=True):
        return f"off by {np.nanmax(np.abs(got.astype(np.float64) - want))}"
    return ""


for case in json.load(open(f"{folder}/cases.json")):
    try:
        text = fault(case)
    except Exception as e:
        text = str(e)
    if text:
        print(f"{case['name']}: {text}")
