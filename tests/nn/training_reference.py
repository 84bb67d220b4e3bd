#!/usr/bin/env python3
"""Trains four models with PyTorch and writes where each started, its batches and its losses, for training_test.cpp.

usage: training_reference.py FILE

FILE is a .pt of {model: {"state": at the start, "x": all inputs, "y": all targets, "losses": of each step, "final": state
at the end}}. Exit status 77: no PyTorch.
"""
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
import torch.nn as nn
import torch.nn.functional as F

STEPS = 50
torch.set_num_threads(1)


class Language(nn.Module):
    """Predicts the next token: an embedding, two LSTM layers, a projection."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 12)
        self.lstm = nn.LSTM(12, 24, num_layers=2, batch_first=True)
        self.out = nn.Linear(24, 20)

    def forward(self, x):
        return self.out(self.lstm(self.embedding(x))[0])


class Attentive(nn.Module):
    """Classifies a sequence: embedding and positions, a Transformer encoder, the mean, a projection."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.positions = nn.Parameter(torch.randn(10, 1, 16) * 0.1)
        layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32, dropout=0.0, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(16))
        self.out = nn.Linear(16, 4)

    def forward(self, x):
        return self.out(self.encoder(self.embedding(x.t()) + self.positions).mean(0))


def mlp():
    model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 5))
    x = torch.randn(STEPS, 32, 20)
    y = x[..., :5].argmax(-1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
    return model, x, y, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 20, 0.5)


def cnn():
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2), nn.GELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 3))
    y = torch.randint(0, 3, (STEPS, 16))
    x = torch.randn(STEPS, 16, 1, 12, 12) * 0.5
    for label in range(3):  # a bright band in one of three places
        x[..., 4 * label:4 * label + 4, :][y == label] += 1
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.99))
    return model, x, y, optimizer, None


def lstm():
    x = (torch.arange(13) * torch.randint(1, 4, (STEPS, 16, 1)) + torch.randint(0, 20, (STEPS, 16, 1))) % 20
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.1)
    return model, x[..., :-1].contiguous(), x[..., 1:].contiguous(), optimizer, None


def transformer():
    y = torch.randint(0, 4, (STEPS, 16))  # most tokens of a sequence are of its class's five
    x = y[..., None] * 5 + torch.randint(0, 5, (STEPS, 16, 10))
    x = torch.where(torch.rand(STEPS, 16, 10) < 0.5, torch.randint(0, 20, (STEPS, 16, 10)), x)
    model = Attentive()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, amsgrad=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=STEPS)
    return model, x, y, optimizer, schedule


result = {}
for seed, make in enumerate((mlp, cnn, lstm, transformer)):
    torch.manual_seed(seed)
    model, x, y, optimizer, schedule = make()
    copied = lambda: {name: value.clone() for name, value in model.state_dict().items()}
    record = {"state": copied(), "x": x, "y": y}
    losses = []
    for inputs, targets in zip(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        if schedule:
            schedule.step()
        losses.append(loss.item())
    record.update(losses=torch.tensor(losses, dtype=torch.float64), final=copied())
    result[make.__name__] = record
torch.save(result, sys.argv[1])
