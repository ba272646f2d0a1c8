"""Stable-Baselines3's PPO on the packing environment, for bench: each line on stdin is a number of steps
to learn, and each line on stdout the seconds that they took, as JSON."""

import argparse
import json
import os
import random
import sys
import time

import gymnasium
import numpy
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger

# Ranges of compute, memory, duration and priority of each type of task.
KINDS = [
    ((20, 40), (10, 30), (5, 10), (1, 3)),
    ((30, 50), (40, 60), (7, 15), (2, 4)),
    ((50, 80), (30, 50), (10, 20), (3, 5)),
]


class Packing(gymnasium.Env):
    """The environment of original/tasks with tasks as tuples."""

    def __init__(self, gpus=4):
        self.gpus = gpus
        self.observation_space = gymnasium.spaces.Box(0, 100, (2 * gpus,), numpy.float32)
        self.action_space = gymnasium.spaces.Discrete(gpus)

    def reset(self, *, seed=None, options=None):
        drawn = (random.choice(KINDS) for _ in range(random.randint(40, 50)))
        self.queue = sorted(([random.randint(*r) for r in kind] for kind in drawn), key=lambda t: t[3])
        self.running, self.usage, self.steps = [], [0] * (2 * self.gpus), 0
        return self.observe(), {}

    def observe(self):
        return numpy.array(self.usage, numpy.float32)

    def add(self, gpu, sign, task):
        self.usage[gpu] += sign * task[0]
        self.usage[self.gpus + gpu] += sign * task[1]

    def step(self, gpu):
        reward = 0.0
        for end, on, task in [r for r in self.running if r[0] <= self.steps]:
            self.add(on, -1, task)
            reward += 10 + 2 * task[3]
        self.running = [r for r in self.running if r[0] > self.steps]
        if self.queue:
            task = self.queue.pop()
            if self.usage[gpu] + task[0] <= 100 and self.usage[self.gpus + gpu] + task[1] <= 100:
                self.running.append((self.steps + task[2], gpu, task))
                self.add(gpu, 1, task)
                reward += (20 - (self.steps + 1)) * 0.1
            else:
                reward -= 2
        self.steps += 1
        done = not self.queue and not self.running
        if done:
            reward -= self.steps * 0.1
        return self.observe(), reward, done, False, {}


def main():
    parser = argparse.ArgumentParser(description="Learn with PPO and time it, as told on stdin.")
    parser.add_argument("--threads", type=int, default=1, help="threads within an operator (default: 1)")
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")  # whatever a library prints goes to stderr
    os.dup2(2, 1)
    torch.set_num_threads(options.threads)
    random.seed(1)
    model = PPO("MlpPolicy", Packing(), seed=1, device="cpu")
    model.set_logger(Logger(None, []))
    for line in iter(sys.stdin.readline, ""):
        command = json.loads(line)
        began = time.perf_counter()
        model.learn(command["steps"], reset_num_timesteps=False)
        answers.write(json.dumps({"seconds": time.perf_counter() - began}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
