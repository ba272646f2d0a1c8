"""Runs a script in several processes: launch.py COUNT SCRIPT. As torchrun does, it gives each process a session of its own,
and closes inherited descriptors. It imports PyTorch once, for all processes."""

import os
import runpy
import signal
import sys
import tempfile

import torch  # noqa: F401

count = int(sys.argv[1])
folder = tempfile.mkdtemp()
variables = {"WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "MEET": f"file://{folder}/store", "OMP_NUM_THREADS": 1}
os.environ.update({name: str(value) for name, value in variables.items()})
os.environ["GLOO_SOCKET_IFNAME"] = "lo"

ranks = []
for rank in range(count):
    sys.stdout.flush()
    ranks.append(os.fork())
    if ranks[rank] == 0:
        os.setsid()
        os.environ["RANK"] = os.environ["LOCAL_RANK"] = str(rank)
        if "GRAFT_PROGRAM" in os.environ:
            os.close(int(os.environ["GRAFT_PROGRAM"].split(":")[0]))
        runpy.run_path(sys.argv[2], run_name="__main__")
        sys.exit(0)

failed = 0
while ranks:
    pid, status = os.wait()
    ranks.remove(pid)
    if status != 0 and not failed:
        failed = 1
        print(f"a process ended with {os.waitstatus_to_exitcode(status)}; ending the other ones", file=sys.stderr)
        for other in ranks:
            os.killpg(other, signal.SIGTERM)
os.path.exists(f"{folder}/store") and os.remove(f"{folder}/store")
os.rmdir(folder)
sys.exit(failed)
