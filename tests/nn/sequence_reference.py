#!/usr/bin/env python3
"""Runs PyTorch's recurrent and attention layers, its weight norms and pruning, and writes what sequence_test.cpp compares.

usage: sequence_reference.py FILE

A case is `case NAME`, lines `tensor KIND NAME DTYPE NDIM SIZES... VALUES...`, and `end`. Kinds: state (before the call),
input, output, grad (of a parameter), input_grad, after (state after the call). The loss is sum(o * o / 2 + o) over outputs.
"""
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.utils.prune as prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

warnings.filterwarnings("ignore")
torch.manual_seed(7)
torch.set_default_dtype(torch.float64)
R = torch.randn


def flat(value):
    if value is None:
        return []
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for part in value for tensor in flat(part)]


def packed(lengths, enforce_sorted):
    def call(module, x, *state):
        state = state[0] if len(state) == 1 else (tuple(state) if state else None)
        sequence = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=enforce_sorted)
        out, last = module(sequence, state)
        return [pad_packed_sequence(out)[0], last]

    return call


def with_state(module, x, *state):
    return module(x, state[0] if len(state) == 1 else tuple(state))


plain = lambda module, *inputs: module(*inputs)
hidden = torch.tensor([[False, False, True, True], [False, True, False, True], [False] * 4])  # for S = 4, L = 3
padding = torch.tensor([[False, False, False, True], [False, False, False, False]])
causal = nn.Transformer.generate_square_subsequent_mask(3).double()


def heads(**options):
    return lambda module, *inputs: module(*inputs, **options)


def query_key_value(e=8, k=8, v=8):
    return lambda: [R(3, 2, e), R(4, 2, k), R(4, 2, v)]


float_mask = torch.zeros(3, 4).masked_fill(hidden, float("-inf")) + 0.25
layer = dict(dim_feedforward=16, dropout=0.0)

# name: (module, inputs, call)
cases = {
    "rnn": (lambda: nn.RNN(3, 5), lambda: [R(4, 2, 3)], plain),
    "rnn relu": (lambda: nn.RNN(3, 5, num_layers=2, nonlinearity="relu", bidirectional=True), lambda: [R(4, 2, 3)], plain),
    "rnn state": (lambda: nn.RNN(3, 5, bias=False, batch_first=True), lambda: [R(2, 4, 3), R(1, 2, 5)], with_state),
    "rnn unbatched": (lambda: nn.RNN(3, 5), lambda: [R(4, 3), R(1, 5)], with_state),
    "rnn packed": (lambda: nn.RNN(3, 5, bidirectional=True), lambda: [R(5, 3, 3)], packed([5, 3, 2], True)),
    "rnn relu packed": (lambda: nn.RNN(3, 5, nonlinearity="relu"), lambda: [R(5, 3, 3)], packed([2, 5, 3], False)),
    "lstm": (lambda: nn.LSTM(3, 5), lambda: [R(4, 2, 3)], plain),
    "lstm deep": (lambda: nn.LSTM(3, 5, num_layers=2, bidirectional=True, batch_first=True), lambda: [R(2, 4, 3)], plain),
    "lstm projected": (lambda: nn.LSTM(3, 6, num_layers=2, proj_size=4, bidirectional=True), lambda: [R(4, 2, 3)], plain),
    "lstm state": (lambda: nn.LSTM(3, 6, proj_size=4, bias=False), lambda: [R(4, 2, 3), R(1, 2, 4), R(1, 2, 6)], with_state),
    "lstm unbatched": (lambda: nn.LSTM(3, 5, bidirectional=True), lambda: [R(4, 3), R(2, 5), R(2, 5)], with_state),
    "lstm packed": (lambda: nn.LSTM(3, 5, num_layers=2), lambda: [R(5, 3, 3)], packed([2, 5, 3], False)),
    "lstm packed state": (
        lambda: nn.LSTM(3, 5, bidirectional=True), lambda: [R(5, 3, 3), R(2, 3, 5), R(2, 3, 5)], packed([2, 5, 3], False)),
    "gru": (lambda: nn.GRU(3, 5), lambda: [R(4, 2, 3)], plain),
    "gru deep": (lambda: nn.GRU(3, 5, num_layers=2, bidirectional=True), lambda: [R(4, 2, 3), R(4, 2, 5)], with_state),
    "gru no bias": (lambda: nn.GRU(3, 5, bias=False, batch_first=True), lambda: [R(2, 4, 3)], plain),
    "gru unbatched": (lambda: nn.GRU(3, 5, batch_first=True), lambda: [R(4, 3), R(1, 5)], with_state),
    "gru packed": (lambda: nn.GRU(3, 5, bidirectional=True), lambda: [R(5, 3, 3), R(2, 3, 5)], packed([2, 5, 3], False)),
    "rnn cell": (lambda: nn.RNNCell(3, 5), lambda: [R(2, 3), R(2, 5)], plain),
    "rnn cell relu": (lambda: nn.RNNCell(3, 5, bias=False, nonlinearity="relu"), lambda: [R(2, 3)], plain),
    "lstm cell": (lambda: nn.LSTMCell(3, 5), lambda: [R(2, 3), R(2, 5), R(2, 5)], with_state),
    "lstm cell unbatched": (lambda: nn.LSTMCell(3, 5), lambda: [R(3)], plain),
    "gru cell": (lambda: nn.GRUCell(3, 5), lambda: [R(2, 3), R(2, 5)], plain),
    "gru cell unbatched": (lambda: nn.GRUCell(3, 5), lambda: [R(3), R(5)], plain),
    "attention": (lambda: nn.MultiheadAttention(8, 2), query_key_value(), plain),
    "attention self": (lambda: nn.MultiheadAttention(8, 4), lambda: [R(3, 2, 8)], lambda m, x: m(x, x, x)),
    "attention memory": (lambda: nn.MultiheadAttention(8, 4), lambda: [R(3, 2, 8), R(4, 2, 8)], lambda m, x, y: m(x, y, y)),
    "attention no bias": (lambda: nn.MultiheadAttention(8, 2, bias=False), query_key_value(), plain),
    "attention widths": (lambda: nn.MultiheadAttention(8, 2, kdim=5, vdim=6), query_key_value(8, 5, 6), plain),
    "attention extra keys": (
        lambda: nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True), query_key_value(),
        heads(attn_mask=hidden, key_padding_mask=padding)),
    "attention bool mask": (lambda: nn.MultiheadAttention(8, 2), query_key_value(), heads(attn_mask=hidden)),
    "attention float mask": (
        lambda: nn.MultiheadAttention(8, 2), query_key_value(), heads(attn_mask=float_mask, key_padding_mask=padding)),
    "attention heads mask": (
        lambda: nn.MultiheadAttention(8, 2), query_key_value(),
        heads(attn_mask=float_mask.repeat(4, 1, 1), average_attn_weights=False)),
    "attention fast": (lambda: nn.MultiheadAttention(8, 2), query_key_value(), heads(need_weights=False)),
    "attention fast masks": (
        lambda: nn.MultiheadAttention(8, 2), query_key_value(),
        heads(attn_mask=hidden, key_padding_mask=padding, need_weights=False)),
    "attention batch first": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True), lambda: [R(2, 3, 8), R(2, 4, 8), R(2, 4, 8)],
        heads(key_padding_mask=padding)),
    "attention unbatched": (lambda: nn.MultiheadAttention(8, 2), lambda: [R(3, 8), R(4, 8), R(4, 8)], heads(attn_mask=hidden)),
    "encoder layer": (lambda: nn.TransformerEncoderLayer(8, 2, **layer), lambda: [R(3, 2, 8)], plain),
    "encoder layer gelu": (
        lambda: nn.TransformerEncoderLayer(8, 2, activation="gelu", norm_first=True, batch_first=True, **layer),
        lambda: [R(2, 3, 8)], lambda m, x: m(x, src_mask=causal, src_key_padding_mask=padding[:, 1:])),
    "encoder layer tanh": (lambda: nn.TransformerEncoderLayer(8, 2, activation=torch.tanh, **layer), lambda: [R(3, 2, 8)], plain),
    "decoder layer": (lambda: nn.TransformerDecoderLayer(8, 2, **layer), lambda: [R(3, 2, 8), R(4, 2, 8)], plain),
    "decoder layer masks": (
        lambda: nn.TransformerDecoderLayer(8, 2, norm_first=True, batch_first=True, **layer),
        lambda: [R(2, 3, 8), R(2, 4, 8)],
        lambda m, x, y: m(x, y, tgt_mask=causal, memory_mask=hidden, memory_key_padding_mask=padding)),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **layer), 2, norm=nn.LayerNorm(8)),
        lambda: [R(3, 2, 8)], plain),
    "decoder": (
        lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, **layer), 2), lambda: [R(3, 2, 8), R(4, 2, 8)], plain),
    "transformer": (
        lambda: nn.Transformer(8, 2, 2, 1, activation="gelu", **layer), lambda: [R(4, 2, 8), R(3, 2, 8)],
        lambda m, x, y: m(x, y, tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding)),
    "weight norm": (lambda: nn.utils.weight_norm(nn.Linear(4, 3)), lambda: [R(2, 4)], plain),
    "weight norm dim": (lambda: nn.utils.weight_norm(nn.Linear(4, 3), dim=1), lambda: [R(2, 4)], plain),
    "weight norm whole": (lambda: nn.utils.weight_norm(nn.Linear(4, 3), dim=None), lambda: [R(2, 4)], plain),
    "weight norm conv": (lambda: nn.utils.weight_norm(nn.Conv2d(2, 3, 3)), lambda: [R(2, 2, 4, 4)], plain),
    "spectral norm": (lambda: nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=2), lambda: [R(2, 4)], plain),
    "spectral norm conv": (lambda: nn.utils.spectral_norm(nn.ConvTranspose2d(2, 3, 3)), lambda: [R(2, 2, 4, 4)], plain),
}


def pruned(*steps):
    def make():
        module = nn.Linear(6, 5)
        for step in steps:
            step(module)
        return module

    return make


cases.update({
    "prune l1": (pruned(lambda m: prune.l1_unstructured(m, "weight", 0.3)), lambda: [R(2, 6)], plain),
    "prune l1 twice": (
        pruned(lambda m: prune.l1_unstructured(m, "weight", 7), lambda m: prune.l1_unstructured(m, "weight", 0.5)),
        lambda: [R(2, 6)], plain),
    "prune ln": (pruned(lambda m: prune.ln_structured(m, "weight", 0.4, n=2, dim=1)), lambda: [R(2, 6)], plain),
    "prune ln twice": (
        pruned(lambda m: prune.ln_structured(m, "weight", 2, n=1, dim=1), lambda m: prune.ln_structured(m, "weight", 0.5, n=2, dim=0)),
        lambda: [R(2, 6)], plain),
    "prune l1 after ln": (
        pruned(lambda m: prune.ln_structured(m, "weight", 1, n=float("inf"), dim=0), lambda m: prune.l1_unstructured(m, "weight", 4)),
        lambda: [R(2, 6)], plain),
    "prune global": (
        pruned(lambda m: prune.global_unstructured([(m, "weight"), (m, "bias")], prune.L1Unstructured, amount=0.4)),
        lambda: [R(2, 6)], plain),
})


def write(out, kind, name, tensor):
    values = tensor.detach().to(torch.float64).flatten().tolist()
    shape = " ".join(map(str, tensor.shape))
    kind_of = "int" if tensor.dtype == torch.int64 else "float"
    text = " ".join(repr(v).replace("inf", "1e999") for v in values)
    print("tensor", kind, name, kind_of, tensor.dim(), shape, text, file=out)


def main(path):
    with open(path, "w") as out:
        for name, (make, inputs, call) in cases.items():
            module = make()
            print("case", name, file=out)
            for key, value in module.state_dict().items():
                write(out, "state", key, value)
            given = [x.requires_grad_() for x in inputs()]
            for i, x in enumerate(given):
                write(out, "input", str(i), x)
            outputs = flat(call(module, *given))
            for i, y in enumerate(outputs):
                write(out, "output", str(i), y)
            sum((y * y / 2 + y).sum() for y in outputs).backward()
            for key, value in module.named_parameters():
                write(out, "grad", key, value.grad if value.grad is not None else torch.zeros_like(value))
            for i, x in enumerate(given):
                write(out, "input_grad", str(i), x.grad)
            for key, value in module.state_dict().items():
                write(out, "after", key, value)
            print("text", repr(module).replace("\n", "\\n"), file=out)
            print("end", file=out)


main(sys.argv[1])
