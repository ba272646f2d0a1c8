"""Makes the pickles of this folder: values.pN.pkl with any Python from 3.8 on,
numpyV.pN.pkl with NumPy of major version V. Run it here as: python3 make.py"""
import collections
import pickle

shared = [1, 2]
loop = ["loop"]
loop.append(loop)
VALUES = {
    "none": None, "true": True, "false": False,
    "ints": [0, 255, 256, 65535, 65536, -1, 2**31 - 1, -2**31, 2**63 - 1, -2**63],
    "large": [2**63, -2**63 - 1, 2**200, -2**200],
    "floats": [0.0, -1.5, 1e300, float("inf")],
    "texts": ["", "ascii", "é ü", "日本 \U0001f600", "line\nbreak \\ 'quotes\""],
    "bytes": [b"", b"\x00\xff\n", bytearray(b"ab\x80")],
    "tuples": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, (4, ()))],
    "dict": {"b": 1, "a": 2, (1, "x"): {"y": [True]}, 3: "three"},
    "ordered": collections.OrderedDict([("z", 1), ("y", 2)]),
    "sets": [{7}, frozenset(["f"]), set(), frozenset()],
    "shared": [shared, shared],
    "loop": loop,
}

for protocol in range(6):
    with open(f"values.p{protocol}.pkl", "wb") as f:
        pickle.dump(VALUES, f, protocol)

try:
    import numpy as np
except ImportError:
    print("no NumPy: its pickles are left as they are")
else:
    arrays = {
        "u1": np.arange(6, dtype="u1").reshape(2, 3),
        "big": np.array([1, 256], dtype=">i2"),
        "fortran": np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)),
        "empty": np.empty((0, 4)), "single": np.array(2.5), "bool": np.array([True, False]),
        "scalars": [np.float32(0.5), np.float64(-2), np.int16(-3), np.uint64(2**64 - 1), np.bool_(True)],
    }
    for protocol in (2, 5):
        with open(f"numpy{np.__version__[0]}.p{protocol}.pkl", "wb") as f:
            pickle.dump(arrays, f, protocol)
