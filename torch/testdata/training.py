"""Training in plain PyTorch, with which the tests of package torch compare.

Reads the tensors of a network and its examples from the file in the first argument, and a list of
cases in JSON from stdin. Writes a line of JSON for each case: the losses of its steps, and all
tensors after them.
"""

import copy
import json
import sys

import torch
import torch.nn.functional as functional
from torch.distributions import Beta
from torch.optim.swa_utils import AveragedModel


class Network(torch.nn.Module):
    """The network of net_test.go, with its parameters in the same order."""

    def __init__(self, tensors):
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.nn.Parameter(tensors["p%d" % k].clone()) for k in range(10)])
        channels = len(self.weights[1])
        for name, value in (("mean1", 0.0), ("var1", 1.0), ("mean2", 0.0), ("var2", 1.0)):
            self.register_buffer(name, torch.full((channels,), value))

    def forward(self, x):
        w1, b1, w2, b2, w3, b3, g1, h1, g2, h2 = self.weights
        x = functional.batch_norm(functional.conv2d(x, w1, b1), self.mean1, self.var1, g1, h1, self.training)
        x = functional.avg_pool2d(functional.relu(x), 2)
        x = functional.batch_norm(functional.conv2d(x, w2, b2, padding=1), self.mean2, self.var2, g2, h2, self.training)
        x = functional.adaptive_avg_pool2d(functional.relu(x), 1)
        return functional.linear(torch.flatten(x, 1), w3, b3)


def optimizer(case, parameters):
    if case["rule"] == "sgd":
        return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
    if case["rule"] == "adamw":
        return torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1)
    return torch.optim.Adam(parameters, lr=0.01)


def mixed(case, x, y, teacher):
    """Zhang, Cissé, Dauphin and Lopez-Paz, mixup (2018)."""
    if not case["mixup"]:
        return x, [(1, y, teacher)]
    share = Beta(case["mixup"], case["mixup"]).sample().item()
    order = torch.randperm(len(x))
    both = [(share, y, teacher), (1 - share, y[order], teacher[order])]
    return share * x + (1 - share) * x[order], both


def distillation(case, student, teacher):
    t = case["temperature"]
    soft = functional.softmax(teacher / t, 1)
    apart = soft * (functional.log_softmax(teacher / t, 1) - functional.log_softmax(student / t, 1))
    return apart.sum() * (t * t / len(student))


def step(case, network, follower, x, y, teacher, number):
    follower.zero_grad()
    x, targets = mixed(case, x, y, teacher)
    part, total = case["part"] or len(x), 0.0
    for at in range(0, len(x), part):
        logits = network(x[at : at + part])
        loss = goal = 0
        for share, labels, taught in targets:
            hard = functional.cross_entropy(logits, labels[at : at + part], label_smoothing=case["smoothing"])
            both = hard
            if case["share"]:
                both = hard * (1 - case["share"]) + distillation(case, logits, taught[at : at + part]) * case["share"]
            loss, goal = loss + hard * share, goal + both * share
        weight = len(logits) / len(x)
        (goal * weight).backward()
        total += (loss * weight).item()
    if case["clip_norm"]:
        torch.nn.utils.clip_grad_norm_(network.parameters(), case["clip_norm"])
    if case["clip_value"]:
        torch.nn.utils.clip_grad_value_(network.parameters(), case["clip_value"])
    if case["warm_up"]:
        warmed(case, network, follower, number)
    else:
        follower.step()
    return total


def warmed(case, network, follower, number):
    """A step with a lower rate for the second half of each parameter, counted along its first dimension.

    The rate of these rows rises over warm_up steps. It is the rate of a second optimizer, which takes the same step with
    the same state on a copy of the parameters.
    """
    factor = min(1.0, (number + 1) / case["warm_up"])
    twin = [torch.nn.Parameter(p.detach().clone()) for p in network.weights]
    for ours, theirs in zip(twin, network.weights):
        ours.grad = theirs.grad.clone()
    slow = optimizer(case, twin)
    if follower.state:
        state = copy.deepcopy(follower.state_dict())
        slow.load_state_dict(state)
    for group in slow.param_groups:
        group["lr"] *= factor
    slow.step()
    before = [p.detach().clone() for p in network.weights]
    follower.step()
    with torch.no_grad():
        for old, fast, less in zip(before, network.weights, twin):
            new = torch.arange(len(fast)) >= len(fast) // 2
            new = new.reshape([-1] + [1] * (fast.dim() - 1))
            if case["exact"] and factor < 1:  # the same sum, in the order of graft's operations
                less = old + (fast - old) * torch.tensor(factor, dtype=torch.float64).float()
            fast.copy_(torch.where(new, less, fast))


def train(case, tensors):
    torch.manual_seed(case["seed"])
    network = Network(tensors)
    decay = case["ema"]
    average = AveragedModel(network, avg_fn=lambda a, p, n: decay * a + (1 - decay) * p, use_buffers=True)
    follower = optimizer(case, network.parameters())
    losses = []
    for at in range(0, len(tensors["x"]), case["size"]):
        rows = slice(at, at + case["size"])
        batch = tensors["x"][rows], tensors["y"][rows], tensors["teacher"][rows]
        losses.append(step(case, network, follower, *batch, at // case["size"]))
        average.update_parameters(network)

    def values(n):
        return [t.double().flatten().tolist() for t in list(n.parameters()) + list(n.buffers())]

    return {"losses": losses, "network": values(network), "average": values(average.module)}


torch.set_num_threads(1)
loaded = torch.load(sys.argv[1], map_location="cpu")
for given in json.load(sys.stdin):
    print(json.dumps(train(given, loaded)))
