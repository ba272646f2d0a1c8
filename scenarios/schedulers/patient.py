#!/usr/bin/env python3
"""A scheduler for graft: small jobs overtake a large job that does not fit, until it has waited for an hour."""
import json
import sys

PATIENCE = 3600  # seconds


def main():
    json.loads(sys.stdin.readline())  # the first request: the role, and the size of the pool
    print('{"protocol": 1}', flush=True)
    waiting = {}  # time of submission by job, in the order of arrival
    for line in sys.stdin:
        now = json.loads(line)
        for job in now["started"]:
            del waiting[job]
        for job in now["arrived"]:
            waiting[job["job"]] = job["submit_s"]
        old = [job for job, submitted in waiting.items() if now["now_s"] - submitted >= PATIENCE]
        answer = {"start": list(waiting), "in_order": len(old)}  # nobody overtakes the old jobs, which come first
        print(json.dumps(answer), flush=True)


main()
