"""Starts a script in several processes, as torchrun does, but without PyTorch: launch.py COUNT SCRIPT…"""

import os
import signal
import subprocess
import sys
import tempfile

count = int(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    ranks = [
        subprocess.Popen(
            [sys.executable, *sys.argv[2:]],
            env={
                **os.environ,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(count),
                "LOCAL_WORLD_SIZE": str(count),
                "MEET": f"file://{folder}/store",
                "GLOO_SOCKET_IFNAME": "lo",
                "OMP_NUM_THREADS": "1",
            },
            start_new_session=True,
        )
        for rank in range(count)
    ]
    code = 0
    for _ in ranks:
        pid, status = os.wait()
        ended = next(rank for rank in ranks if rank.pid == pid)
        ended.returncode = os.waitstatus_to_exitcode(status)
        if ended.returncode != 0 and code == 0:
            code = 1
            print(f"process {ranks.index(ended)} ended with {ended.returncode}", file=sys.stderr)
            for rank in ranks:
                if rank.returncode is None:
                    os.killpg(rank.pid, signal.SIGTERM)
sys.exit(code)
