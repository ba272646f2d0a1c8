"""The original's learning loop in plain PyTorch, for twin.py.

A policy reads a network as tokens, draws three actions and is rewarded in the end
(REINFORCE). The tokens of every state are given, so that nothing but the learning is
timed. All layers are PyTorch's own, one state at a time, as the original has them.
"""

import json
import math

import torch
from torch.distributions import Categorical
from torch.nn import functional

HIDDEN, MEMORY, LINEAR, TIME = 50, 16, 128, 8


class Policy(torch.nn.Module):
    def __init__(self, embedding, actions):
        super().__init__()
        rows, width = embedding.shape
        self.embedder = torch.nn.Embedding(rows, width)
        self.encoder = torch.nn.LSTM(width, HIDDEN, bidirectional=True)
        self.lstm = torch.nn.LSTM(2 * HIDDEN, MEMORY)
        self.linear1 = torch.nn.Linear(TIME + MEMORY, LINEAR)
        self.linear2 = torch.nn.Linear(LINEAR, LINEAR)
        self.linear3 = torch.nn.Linear(LINEAR, actions)
        with torch.no_grad():
            self.embedder.weight.copy_(embedding)
        self.embedder.weight.requires_grad_(False)

    def forward(self, tokens, left, budget, temperature):
        layers, _ = self.encoder(self.embedder(torch.tensor(tokens)))
        memory, _ = self.lstm(layers)
        code = [5 * math.sin(2 * math.pi * k * left / budget) for k in range(1, TIME + 1)]
        x = torch.cat([torch.tensor(code, dtype=torch.float32), memory[-1]]).unsqueeze(0)
        x = functional.relu(self.linear1(x))
        x = functional.relu(self.linear2(x))
        chances = functional.softmax(self.linear3(x), dim=1)
        if temperature > 1:
            chances = functional.softmax(chances / temperature, dim=1)
        return chances


class Learner:
    def __init__(self, path):
        with open(path) as file:
            lesson = json.load(file)
        embedding = torch.tensor(lesson["embedding"]).view(-1, lesson["width"])
        self.states, self.accuracy = lesson["states"], lesson["accuracy"]
        torch.manual_seed(lesson["seed"])
        self.policy = Policy(embedding, lesson["actions"])
        trained = [p for p in self.policy.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=1e-4)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.99)
        self.temperature = 1.0
        self.episodes = 0

    def episode(self):
        logs, at = [], 0
        while at >= 0:
            state = self.states[at]
            choice = Categorical(self.policy(state["Tokens"], state["Left"], state["Budget"], self.temperature))
            action = choice.sample()
            logs.append(choice.log_prob(action))
            at = state["Children"][action.item()]
        reward = 100 * math.tan(self.accuracy[-1 - at] * math.pi / 2)
        self.optimizer.zero_grad()
        objective = torch.stack([-log * reward for log in logs]).mean()
        objective.backward()
        self.optimizer.step()
        self.episodes += 1
        if self.episodes % 500 == 0 and self.schedule.get_last_lr()[0] >= 1e-9:
            self.schedule.step()
        if self.temperature > 1:
            self.temperature = max(0.9 * self.temperature, 1)
        return objective.item()
