#!/usr/bin/env python3
"""A decider for graft: takes the deepening with the fewest parameters while 40% of the budget is left."""
import json
import sys


def main():
    json.loads(sys.stdin.readline())  # the first request: the role
    print('{"protocol": 1}', flush=True)
    state = json.loads(sys.stdin.readline())
    deeper = [c for c in state["choices"] if c["action"].startswith("deepen:")]
    if state["left_s"] < 0.4 * state["budget_s"] or not deeper:
        print('{"action": "none"}', flush=True)
        return
    best = min(deeper, key=lambda c: (c["parameters"], c["action"]))
    print(json.dumps({"action": best["action"]}), flush=True)


main()
