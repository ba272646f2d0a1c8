"""Rank correlation of what deciders say of the first decision with how the scenario's runs end.

    python3 studies/trials.py runs/trials runs/reseeded

The first folder has a run folder of 'graft train --cases studies/trials.toml' for each scenario, the second its table. Spearman's
correlation over the choices of a decision, mean over the seeds of a case; then over scenarios, with an interval by Student's
t-distribution. Choices with equal numbers share their mean rank.
"""

import glob
import json
import math
import os
import sys

# 97.5% points of Student's distribution with 1, 2, ... 19 degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093]


def ranks(values):
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def correlation(x, y):
    x, y = ranks(x), ranks(y)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    sxy = sum((a - mx) * (b - my) for a, b in zip(x, y))
    sxx, syy = sum((a - mx) ** 2 for a in x), sum((b - my) ** 2 for b in y)
    return sxy / math.sqrt(sxx * syy) if sxx * syy > 0 else None


def name(action):
    return ":".join(str(action[k]) for k in ("kind", "target", "size") if action.get(k)) or "none"


def final_accuracies(table):
    """The mean final accuracy of each first choice, followed by none, and followed by the best."""
    of = {}
    for path in glob.glob(os.path.join(table, "*.jsonl")):
        for line in open(path, encoding="utf-8"):
            record = json.loads(line).get("record")
            if record:
                sequence = tuple(record["sequence"])
                of.setdefault(sequence, []).extend(record["accuracy"])
    means = {sequence: sum(v) / len(v) for sequence, v in of.items()}
    first = sorted({sequence[0] for sequence in means})
    alone = {a: m for a in first for s, m in means.items() if s[0] == a and all(x == "none" for x in s[1:])}
    best = {a: max(m for s, m in means.items() if s[0] == a) for a in first}
    return alone, best


def said(events, choices):
    """What a decider's first decision says of each choice, larger is better; None where it has no first decision."""
    for line in open(events, encoding="utf-8"):
        event = json.loads(line)
        if event["event"] != "decision":
            continue
        if "trials" in event:
            losses = {name(t["action"]): -t["loss"] for t in event["trials"]}
            return losses if set(losses) == set(choices) else None
        given = event.get("probabilities")
        return dict(zip(choices, given)) if given and len(given) == len(choices) else None
    return None


def actions(folder):
    for line in open(os.path.join(folder, "config.toml"), encoding="utf-8"):
        if line.startswith("actions = "):
            return json.loads(line.split("=", 1)[1])
    raise SystemExit(folder + " has no line of actions")


def summary(values):
    n, mean = len(values), sum(values) / len(values)
    if n < 2:
        return f"{mean:+.2f} ({n} scenario)"
    half = T95[min(n - 1, len(T95)) - 1] * math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    return f"{mean:+.2f} [{mean - half:+.2f}, {mean + half:+.2f}] ({n} scenarios)"


def gains(sweep):
    """The mean test accuracy of each case less never's of the same seed, in points."""
    accuracy = {}
    with open(os.path.join(sweep, "outcome.json"), encoding="utf-8") as file:
        for case in json.load(file)["cases"]:
            accuracy[case["name"]] = {t["seed"]: t["values"]["test_accuracy"] for t in case["trials"]}
    never = accuracy.pop("never")
    return {case: sum(100 * (of[seed] - never[seed]) for seed in of) / len(of) for case, of in accuracy.items()}


def main(sweeps, tables):
    found, gained = {}, {}
    for sweep in sorted(glob.glob(os.path.join(sweeps, "*"))):
        choices = actions(sweep)
        for case, gain in gains(sweep).items():
            gained.setdefault(case, []).append(gain)
        truths = final_accuracies(os.path.join(tables, os.path.basename(sweep)))
        for case in sorted(os.listdir(os.path.join(sweep, "trials"))):
            for k, truth in enumerate(truths):
                if set(truth) != set(choices):
                    continue
                all_said = [said(e, choices) for e in glob.glob(os.path.join(sweep, "trials", case, "*", "events.jsonl"))]
                values = [correlation([s[a] for a in choices], [truth[a] for a in choices]) for s in all_said if s]
                values = [v for v in values if v is not None]
                if values:
                    found.setdefault((case, k), []).append(sum(values) / len(values))
    for k, title in enumerate(["followed by none", "followed by the best"]):
        print(f"rank correlation with the final accuracy of the choice, {title}")
        for (case, at), values in sorted(found.items()):
            if at == k:
                print(f"  {case:10} {summary(values)}")
    print("test accuracy less never's, points")
    for case, values in sorted(gained.items()):
        print(f"  {case:10} {summary(values)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
