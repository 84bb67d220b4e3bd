#!/usr/bin/env python3
"""Runs every layer and loss of PyTorch and writes parameters, inputs, outputs and gradients for layers_test.cpp.

usage: layers_reference.py FILE

The names are those of the table in layers_table.cpp, which builds the same layers. What an older PyTorch lacks is written
here from its definition. Each record of the file is `case NAME MODE`, then `steps N`, `text print TEXT` and
`tensor KIND NAME DTYPE NDIM SIZES... VALUES...`, then `end`.
"""
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(20)
torch.set_default_dtype(torch.float64)


def R(*shape):
    return torch.randn(*shape)


def P(*shape):  # probabilities
    return torch.rand(*shape) * 0.9 + 0.05


def I(high, *shape):
    return torch.randint(0, high, shape)


def signs(*shape):
    return torch.randint(0, 2, shape).double() * 2 - 1


class Target:
    """A tensor that gets no gradient."""

    def __init__(self, tensor):
        self.tensor = tensor


T = Target


class Written(nn.Module):
    """A layer that this PyTorch may lack: a function, and parameters if any."""

    def __init__(self, function, **parameters):
        super().__init__()
        self.function = function
        for name, value in parameters.items():
            setattr(self, name, nn.Parameter(value))

    def forward(self, *args):
        return self.function(self, *args)


def written_rms(self, x):
    dims = tuple(range(-self.weight.dim(), 0))
    return x / torch.sqrt((x * x).mean(dims, keepdim=True) + 1e-6) * self.weight


def written_lp3(self, x):
    return (F.avg_pool3d(x ** 2.0, 2, 2) * 8) ** 0.5


x1 = lambda: [R(2, 4, 9)]
x2 = lambda: [R(2, 4, 7, 6)]
x3 = lambda: [R(2, 4, 5, 6, 4)]
xs = lambda: [R(3, 5) * 2]
class_weights = torch.tensor([0.5, 1.5, 1.0, 2.0, 0.7])

# name: (layer, inputs, options)
cases = {
    "Identity": (lambda: nn.Identity(), xs),
    "Linear": (lambda: nn.Linear(5, 3), lambda: [R(4, 5)]),
    "Linear no bias": (lambda: nn.Linear(5, 3, bias=False), lambda: [R(2, 4, 5)]),
    "Bilinear": (lambda: nn.Bilinear(4, 3, 5), lambda: [R(2, 4), R(2, 3)]),
    "Bilinear no bias": (lambda: nn.Bilinear(4, 3, 5, bias=False), lambda: [R(2, 2, 4), R(2, 2, 3)]),
    "Flatten": (lambda: nn.Flatten(), x2),
    "Flatten some": (lambda: nn.Flatten(0, 2), x2),
    "Unflatten": (lambda: nn.Unflatten(1, (2, 2)), x2),
    # convolutions
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3), x1),
    "Conv1d same": (lambda: nn.Conv1d(4, 6, 4, padding="same", dilation=2), x1),
    "Conv1d replicate": (lambda: nn.Conv1d(4, 6, 3, padding=2, padding_mode="replicate"), x1),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3), x2),
    "Conv2d options": (lambda: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2, bias=False), x2),
    "Conv2d valid": (lambda: nn.Conv2d(4, 6, 3, padding="valid"), x2),
    "Conv2d reflect": (lambda: nn.Conv2d(4, 6, 3, padding=(2, 1), padding_mode="reflect"), x2),
    "Conv2d circular same": (lambda: nn.Conv2d(4, 6, (4, 3), padding="same", padding_mode="circular"), x2),
    "Conv2d one image": (lambda: nn.Conv2d(4, 6, 3, padding=1), lambda: [R(4, 7, 6)]),
    "Conv3d": (lambda: nn.Conv3d(4, 2, 3, padding=1, stride=2), x3),
    "Conv3d circular": (lambda: nn.Conv3d(4, 2, 2, padding=(1, 0, 1), padding_mode="circular"), x3),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1), x1),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 6, (3, 2), stride=2, padding=1, groups=2, dilation=(2, 1), bias=False), x2),
    "ConvTranspose2d output_size": (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2), x2, dict(extra=[[16, 14]])),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(4, 2, 2, stride=2), x3),
    # pools
    "AvgPool1d": (lambda: nn.AvgPool1d(3, stride=2, padding=1, count_include_pad=False), x1),
    "AvgPool2d": (lambda: nn.AvgPool2d((3, 2), stride=(2, 1), padding=(1, 0), ceil_mode=True), x2),
    "AvgPool2d divisor": (lambda: nn.AvgPool2d(2, divisor_override=3), x2),
    "AvgPool3d": (lambda: nn.AvgPool3d(2, stride=1), x3),
    "MaxPool1d": (lambda: nn.MaxPool1d(3, stride=2, padding=1), x1),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), x2),
    "MaxPool2d options": (lambda: nn.MaxPool2d((3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), ceil_mode=True), x2),
    "MaxPool3d": (lambda: nn.MaxPool3d(2, stride=(1, 2, 1)), x3),
    "AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(4), x1),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((None, 4)), x2),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d(2), x3),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(4), x1),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((3, None)), x2),
    "AdaptiveMaxPool3d": (lambda: nn.AdaptiveMaxPool3d((2, 3, 1)), x3),
    "MaxUnpool1d": (lambda: nn.MaxUnpool1d(2), lambda: unpool_inputs(F.max_pool1d, R(2, 3, 8), 2)),
    "MaxUnpool2d": (lambda: nn.MaxUnpool2d(2, stride=2), lambda: unpool_inputs(F.max_pool2d, R(2, 3, 6, 4), 2)),
    "MaxUnpool2d output_size": (lambda: nn.MaxUnpool2d(2), lambda: unpool_inputs(F.max_pool2d, R(2, 3, 7, 5), 2), dict(extra=[[7, 5]])),
    "MaxUnpool3d": (lambda: nn.MaxUnpool3d(2), lambda: unpool_inputs(F.max_pool3d, R(2, 3, 4, 4, 6), 2)),
    "LPPool1d": (lambda: nn.LPPool1d(2.0, 3, stride=2), lambda: [P(2, 4, 9)]),
    "LPPool2d": (lambda: nn.LPPool2d(3.0, (3, 2), stride=1, ceil_mode=True), lambda: [P(2, 4, 7, 6)]),
    "LPPool3d": (lambda: Written(written_lp3), lambda: [P(2, 4, 4, 6, 4)], dict(text=False)),
    "FractionalMaxPool2d": (lambda: nn.FractionalMaxPool2d(2, output_size=(4, 3), _random_samples=SAMPLES2), x2),
    "FractionalMaxPool2d ratio": (lambda: nn.FractionalMaxPool2d((3, 2), output_ratio=0.6, _random_samples=SAMPLES2), x2),
    "FractionalMaxPool3d": (lambda: nn.FractionalMaxPool3d(2, output_size=(3, 4, 2), _random_samples=SAMPLES3), x3),
    # norms
    "BatchNorm1d": (lambda: nn.BatchNorm1d(5), lambda: [R(6, 5) * 2 + 1], dict(steps=3)),
    "BatchNorm1d 3d": (lambda: nn.BatchNorm1d(4, eps=1e-3, momentum=0.3), x1, dict(steps=3)),
    "BatchNorm1d cumulative": (lambda: nn.BatchNorm1d(5, momentum=None), lambda: [R(6, 5)], dict(steps=3)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), x2, dict(steps=2)),
    "BatchNorm2d plain": (lambda: nn.BatchNorm2d(4, affine=False), x2, dict(steps=2)),
    "BatchNorm2d untracked": (lambda: nn.BatchNorm2d(4, track_running_stats=False), x2),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(4), x3, dict(steps=2)),
    "SyncBatchNorm": (lambda: nn.BatchNorm2d(4), x2, dict(text=False, steps=2)),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(4), x1),
    "InstanceNorm1d one": (lambda: nn.InstanceNorm1d(4), lambda: [R(4, 9)]),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), x2, dict(steps=2)),
    "InstanceNorm3d": (lambda: nn.InstanceNorm3d(4, affine=True), x3),
    "LayerNorm": (lambda: nn.LayerNorm(6), x2),
    "LayerNorm 2d": (lambda: nn.LayerNorm((7, 6), eps=1e-3), x2),
    "LayerNorm plain": (lambda: nn.LayerNorm(6, elementwise_affine=False), x2),
    "RMSNorm": (lambda: Written(written_rms, weight=torch.ones(6)), x2, dict(text=False)),
    "RMSNorm 2d": (lambda: Written(written_rms, weight=torch.ones(7, 6)), x2, dict(text=False)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), x2),
    "GroupNorm plain": (lambda: nn.GroupNorm(4, 4, affine=False), x1),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3, alpha=0.1, beta=0.5, k=2.0), x2),
    "LocalResponseNorm even": (lambda: nn.LocalResponseNorm(2, alpha=0.1), x1),
    "CrossMapLRN2d": (lambda: nn.CrossMapLRN2d(3, alpha=0.1, beta=0.5, k=2.0), lambda: [R(2, 8, 3, 4)], dict(grad=False)),  # PyTorch's is wrong
    "CrossMapLRN2d even": (lambda: nn.CrossMapLRN2d(4, alpha=0.1, beta=0.5, k=1.0), lambda: [R(2, 8, 3, 4)], dict(grad=False)),
    # padding
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d((2, 1)), x1),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d((1, 2, 3, 0)), x2),
    "ReflectionPad3d": (lambda: nn.ReflectionPad3d(1), x3),
    "ReplicationPad1d": (lambda: nn.ReplicationPad1d((2, 1)), x1),
    "ReplicationPad2d": (lambda: nn.ReplicationPad2d(2), x2),
    "ReplicationPad3d": (lambda: nn.ReplicationPad3d((1, 2, 0, 1, 2, 1)), x3),
    "ZeroPad1d": (lambda: Written(lambda self, x: F.pad(x, (1, 2))), x1, dict(text=False)),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((1, 2, -1, 0)), x2),
    "ZeroPad3d": (lambda: Written(lambda self, x: F.pad(x, (1,) * 6)), x3, dict(text=False)),
    "ConstantPad1d": (lambda: nn.ConstantPad1d(2, 3.5), x1),
    "ConstantPad2d": (lambda: nn.ConstantPad2d((1, 2, 3, 0), -1.25), x2),
    "ConstantPad3d": (lambda: nn.ConstantPad3d(1, 0.5), x3),
    "CircularPad1d": (lambda: Written(lambda self, x: F.pad(x, (2, 1), mode="circular")), x1, dict(text=False)),
    "CircularPad2d": (lambda: Written(lambda self, x: F.pad(x, (1, 2, 3, 0), mode="circular")), x2, dict(text=False)),
    "CircularPad3d": (lambda: Written(lambda self, x: F.pad(x, (1,) * 6, mode="circular")), x3, dict(text=False)),
    # dropout: random in training, so evaluation only
    "Dropout": (lambda: nn.Dropout(0.3), xs, dict(train=False)),
    "Dropout1d": (lambda: nn.Dropout1d(0.3), x1, dict(train=False)),
    "Dropout2d": (lambda: nn.Dropout2d(0.3), x2, dict(train=False)),
    "Dropout3d": (lambda: nn.Dropout3d(0.3), x3, dict(train=False)),
    "AlphaDropout": (lambda: nn.AlphaDropout(0.3), xs, dict(train=False)),
    "FeatureAlphaDropout": (lambda: nn.FeatureAlphaDropout(0.3, inplace=True), x2, dict(train=False)),
    # embeddings
    "Embedding": (lambda: nn.Embedding(7, 3), lambda: [I(7, 2, 4)]),
    "Embedding padding": (lambda: nn.Embedding(7, 3, padding_idx=-2), lambda: [torch.tensor([[0, 5, 5], [1, 2, 5]])]),
    "Embedding max_norm": (lambda: nn.Embedding(7, 3, max_norm=0.8, norm_type=1.0), lambda: [I(7, 2, 4)]),
    "Embedding by frequency": (lambda: nn.Embedding(7, 3, scale_grad_by_freq=True), lambda: [torch.tensor([1, 1, 4, 1, 4])]),
    "EmbeddingBag": (lambda: nn.EmbeddingBag(7, 3), lambda: [I(7, 2, 4)]),
    "EmbeddingBag sum": (lambda: nn.EmbeddingBag(7, 3, mode="sum", padding_idx=1), lambda: [I(7, 9), torch.tensor([0, 3, 3, 7])]),
    "EmbeddingBag weighted": (lambda: nn.EmbeddingBag(7, 3, mode="sum"), lambda: [I(7, 9), torch.tensor([0, 3, 7]), R(9)]),
    "EmbeddingBag max": (lambda: nn.EmbeddingBag(7, 3, mode="max", include_last_offset=True), lambda: [I(7, 9), torch.tensor([0, 3, 7, 9])]),
    # activations
    "ELU": (lambda: nn.ELU(0.7), xs),
    "ELU in place": (lambda: nn.ELU(inplace=True), xs),
    "SELU": (lambda: nn.SELU(), xs),
    "CELU": (lambda: nn.CELU(1.5), xs),
    "GELU": (lambda: nn.GELU(), xs),
    "GELU tanh": (lambda: nn.GELU(approximate="tanh"), xs),
    "GLU": (lambda: nn.GLU(1), x2),
    "Hardshrink": (lambda: nn.Hardshrink(0.4), xs),
    "Hardsigmoid": (lambda: nn.Hardsigmoid(), lambda: [R(3, 5) * 4]),
    "Hardswish": (lambda: nn.Hardswish(), lambda: [R(3, 5) * 4]),
    "Hardtanh": (lambda: nn.Hardtanh(-0.5, 2.0), xs),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), xs),
    "LeakyReLU in place": (lambda: nn.LeakyReLU(inplace=True), xs),
    "LogSigmoid": (lambda: nn.LogSigmoid(), xs),
    "Mish": (lambda: nn.Mish(), xs),
    "PReLU": (lambda: nn.PReLU(), xs),
    "PReLU channels": (lambda: nn.PReLU(4, init=0.1), x2),
    "ReLU": (lambda: nn.ReLU(), xs),
    "ReLU in place": (lambda: nn.ReLU(inplace=True), xs),
    "ReLU6": (lambda: nn.ReLU6(), lambda: [R(3, 5) * 6]),
    "RReLU": (lambda: nn.RReLU(), xs, dict(train=False)),
    "Sigmoid": (lambda: nn.Sigmoid(), xs),
    "SiLU": (lambda: nn.SiLU(), xs),
    "SiLU in place": (lambda: nn.SiLU(inplace=True), xs),
    "Softmax": (lambda: nn.Softmax(dim=1), x2),
    "Softmin": (lambda: nn.Softmin(dim=-1), x2),
    "LogSoftmax": (lambda: nn.LogSoftmax(dim=0), x2),
    "Softmax2d": (lambda: nn.Softmax2d(), x2),
    "Softplus": (lambda: nn.Softplus(1.5, 2.0), lambda: [R(3, 5) * 4]),
    "Softshrink": (lambda: nn.Softshrink(0.4), xs),
    "Softsign": (lambda: nn.Softsign(), xs),
    "Tanh": (lambda: nn.Tanh(), xs),
    "Tanhshrink": (lambda: nn.Tanhshrink(), xs),
    "Threshold": (lambda: nn.Threshold(0.1, 20.0), xs),
    # distances, folds, sizes
    "CosineSimilarity": (lambda: nn.CosineSimilarity(dim=2, eps=1e-6), lambda: [R(2, 3, 4), R(2, 3, 4)]),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(p=3.0), lambda: [R(4, 5), R(4, 5)]),
    "PairwiseDistance keepdim": (lambda: nn.PairwiseDistance(keepdim=True), lambda: [R(4, 5), R(4, 5)]),
    "Fold": (lambda: nn.Fold((5, 6), (2, 3), padding=(1, 0), stride=2), lambda: [R(2, 12, 6)]),
    "Unfold": (lambda: nn.Unfold((2, 3), dilation=(1, 2), padding=1, stride=2), x2),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), x2),
    "PixelUnshuffle": (lambda: nn.PixelUnshuffle(2), lambda: [R(2, 2, 6, 4)]),
    "ChannelShuffle": (lambda: Written(lambda self, x: x.reshape(2, 2, 2, 7, 6).transpose(1, 2).reshape(2, 4, 7, 6)), x2, dict(text=False)),
    "Upsample nearest": (lambda: nn.Upsample(size=(9, 11)), x2),
    "Upsample linear": (lambda: nn.Upsample(scale_factor=1.7, mode="linear"), x1),
    "Upsample bilinear": (lambda: nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=True), x2),
    "Upsample bicubic": (lambda: nn.Upsample(scale_factor=(1.5, 2.0), mode="bicubic"), x2),
    "Upsample trilinear": (lambda: nn.Upsample(scale_factor=2.0, mode="trilinear"), x3),
    # losses
    "L1Loss": (lambda: nn.L1Loss(), lambda: [R(3, 5), R(3, 5)]),
    "L1Loss none": (lambda: nn.L1Loss(reduction="none"), lambda: [R(3, 5), R(3, 5)]),
    "MSELoss": (lambda: nn.MSELoss(), lambda: [R(3, 5), R(3, 5)]),
    "MSELoss sum": (lambda: nn.MSELoss(reduction="sum"), lambda: [R(3, 5), R(3, 5)]),
    "SmoothL1Loss": (lambda: nn.SmoothL1Loss(beta=0.5), lambda: [R(3, 5), R(3, 5)]),
    "HuberLoss": (lambda: nn.HuberLoss(delta=0.5), lambda: [R(3, 5), R(3, 5)]),
    "KLDivLoss": (lambda: nn.KLDivLoss(), lambda: [R(3, 5), P(3, 5)]),
    "KLDivLoss batchmean": (lambda: nn.KLDivLoss(reduction="batchmean", log_target=True), lambda: [R(3, 5), R(3, 5)]),
    "BCELoss": (lambda: nn.BCELoss(), lambda: [P(3, 5), T(P(3, 5))]),
    "BCELoss weighted": (lambda: nn.BCELoss(weight=class_weights, reduction="sum"), lambda: [P(3, 5), T(P(3, 5))]),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(), lambda: [R(3, 5), T(P(3, 5))]),
    "BCEWithLogitsLoss weighted": (lambda: nn.BCEWithLogitsLoss(weight=class_weights, pos_weight=class_weights + 1), lambda: [R(3, 5), T(P(3, 5))]),
    "HingeEmbeddingLoss": (lambda: nn.HingeEmbeddingLoss(margin=0.7), lambda: [R(3, 5), T(signs(3, 5))]),
    "MultiMarginLoss": (lambda: nn.MultiMarginLoss(p=2, margin=0.7, weight=class_weights), lambda: [R(3, 5), I(5, 3)]),
    "CosineEmbeddingLoss": (lambda: nn.CosineEmbeddingLoss(margin=0.2), lambda: [R(3, 5), R(3, 5), T(signs(3))]),
    "MultiLabelMarginLoss": (lambda: nn.MultiLabelMarginLoss(), lambda: [R(2, 4), torch.tensor([[3, 0, -1, 1], [1, 2, 3, -1]])]),
    "SoftMarginLoss": (lambda: nn.SoftMarginLoss(), lambda: [R(3, 5), T(signs(3, 5))]),
    "MultiLabelSoftMarginLoss": (lambda: nn.MultiLabelSoftMarginLoss(weight=class_weights), lambda: [R(3, 5), T((signs(3, 5) + 1) / 2)]),
    "TripletMarginLoss": (lambda: nn.TripletMarginLoss(margin=2.0, p=3.0, swap=True), lambda: [R(3, 5), R(3, 5), R(3, 5)]),
    "TripletMarginWithDistanceLoss": (lambda: nn.TripletMarginWithDistanceLoss(margin=2.0), lambda: [R(3, 5), R(3, 5), R(3, 5)], dict(text=False)),
    "TripletMarginWithDistanceLoss own": (lambda: nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(1), reduction="none"), lambda: [R(3, 5), R(3, 5), R(3, 5)]),
    "CTCLoss": (lambda: nn.CTCLoss(), lambda: [R(8, 2, 5).log_softmax(2), torch.tensor([[1, 2, 2], [3, 4, 0]]), torch.tensor([8, 6]), torch.tensor([3, 2])], dict(log_softmax=True)),
    "CTCLoss zero_infinity": (lambda: nn.CTCLoss(blank=4, reduction="sum", zero_infinity=True), lambda: [R(3, 2, 5).log_softmax(2), torch.tensor([[1, 2, 2], [3, 1, 0]]), torch.tensor([3, 3]), torch.tensor([3, 2])], dict(log_softmax=True)),
    "PoissonNLLLoss": (lambda: nn.PoissonNLLLoss(full=True), lambda: [R(3, 5), T(P(3, 5) * 4)]),
    "PoissonNLLLoss plain": (lambda: nn.PoissonNLLLoss(log_input=False), lambda: [P(3, 5), T(P(3, 5) * 4)]),
    "GaussianNLLLoss": (lambda: nn.GaussianNLLLoss(full=True), lambda: [R(3, 5), R(3, 5), P(3, 5)]),
    "MarginRankingLoss": (lambda: nn.MarginRankingLoss(margin=0.3), lambda: [R(5), R(5), T(signs(5))]),
    "NLLLoss": (lambda: nn.NLLLoss(weight=class_weights, ignore_index=2), lambda: [R(6, 5), torch.tensor([0, 2, 4, 1, 2, 3])]),
    "NLLLoss 2d": (lambda: nn.NLLLoss(reduction="none"), lambda: [R(2, 5, 3, 4), I(5, 2, 3, 4)]),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(), lambda: [R(6, 5), I(5, 6)]),
    "CrossEntropyLoss options": (lambda: nn.CrossEntropyLoss(weight=class_weights, ignore_index=1, label_smoothing=0.1), lambda: [R(6, 5), torch.tensor([0, 1, 4, 3, 1, 2])]),
    "CrossEntropyLoss probabilities": (lambda: nn.CrossEntropyLoss(reduction="sum"), lambda: [R(2, 5, 3), P(2, 5, 3)]),
    "AdaptiveLogSoftmaxWithLoss": (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0, head_bias=True), lambda: [R(6, 8), torch.tensor([0, 4, 7, 19, 10, 12])]),
    "AdaptiveLogSoftmaxWithLoss log_prob": (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0), lambda: [R(6, 8)], dict(method="log_prob")),
    "AdaptiveLogSoftmaxWithLoss predict": (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [2, 10], div_value=2.0), lambda: [R(40, 8) * 4], dict(method="predict")),
    # half precision, where this PyTorch has it
    "bfloat16 Linear": (lambda: nn.Linear(5, 3), lambda: [R(4, 5)], dict(dtype=torch.bfloat16)),
    "bfloat16 Conv2d": (lambda: nn.Conv2d(4, 6, 3, padding=1), x2, dict(dtype=torch.bfloat16)),
    "bfloat16 LayerNorm": (lambda: nn.LayerNorm(6), x2, dict(dtype=torch.bfloat16)),
    "bfloat16 GELU": (lambda: nn.GELU(), xs, dict(dtype=torch.bfloat16)),
    "bfloat16 Softmax": (lambda: nn.Softmax(dim=1), x2, dict(dtype=torch.bfloat16)),
    "bfloat16 MaxPool2d": (lambda: nn.MaxPool2d(2), x2, dict(dtype=torch.bfloat16)),
}

SAMPLES2 = torch.rand(2, 4, 2)
SAMPLES3 = torch.rand(2, 4, 3)


def unpool_inputs(pool, x, size):
    values, indices = pool(x, size, return_indices=True)
    return [values, indices]


def tensor_line(kind, name, x):
    x = x.detach()
    dtype = "long" if x.dtype == torch.int64 else "double"
    values = x.double().flatten().tolist() if dtype == "double" else x.flatten().tolist()
    words = ["tensor", kind, name, dtype, str(x.dim())] + [str(n) for n in x.shape] + [repr(v) for v in values]
    return " ".join(words)


def shake(layer):
    """Other values than the initial ones, so that a mix-up of weights shows."""
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
        for name, buffer in layer.named_buffers():
            if buffer.is_floating_point() and "running" in name:
                buffer.add_(torch.rand_like(buffer))


def run(name, layer, inputs, out, mode, steps=1, text=True, train=True, extra=(), method=None, dtype=None, log_softmax=False, grad=True):
    if mode == "train" and not train:
        return
    layer.train(mode == "train")
    shake(layer)
    if dtype is not None:
        layer = layer.to(dtype)
        inputs = [x.to(dtype) for x in inputs]
    out.append(f"case {name.replace(' ', '_')} {mode}")
    out.append(f"steps {steps}")
    if text:
        out.append("text print " + repr(layer).replace("\n", "\\n"))
    for key, value in layer.state_dict().items():
        out.append(tensor_line("state", key, value))
    leaves, passed = [], []
    for x in inputs:
        wants = not isinstance(x, Target) and x.is_floating_point()
        x = x.tensor if isinstance(x, Target) else x
        out.append(tensor_line("input" if wants else "target", "x", x))
        leaf = x.clone().requires_grad_(wants)
        if wants:
            leaves.append(leaf)
        passed.append(leaf.clone() if wants else leaf)
    if log_softmax:  # PyTorch's gradient of ctc_loss is meant to be taken through log_softmax
        passed[0] = passed[0].log_softmax(2)
    for step in range(steps):
        result = (getattr(layer, method) if method else layer)(*passed, *extra)
    results = list(result) if isinstance(result, tuple) else [result]
    total = 0
    for y in results:
        out.append(tensor_line("output", "y", y))
        if y.requires_grad and grad:
            weight = torch.randn(y.shape).to(y.dtype)
            out.append(tensor_line("cotangent", "y", weight))
            total = total + (y * weight).sum()
    if isinstance(total, torch.Tensor):
        total.backward()
        for x in leaves:
            out.append(tensor_line("grad_input", "x", torch.zeros_like(x) if x.grad is None else x.grad))
        for key, parameter in layer.named_parameters():
            if parameter.grad is not None:
                out.append(tensor_line("grad_parameter", key, parameter.grad))
    for key, value in layer.named_buffers():
        out.append(tensor_line("after", key, value))
    out.append("end")


def main():
    out = ["torch " + torch.__version__]
    for name, (layer, inputs, *options) in cases.items():
        for mode in ("train", "eval"):
            run(name, layer(), inputs(), out, mode, **(options[0] if options else {}))
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(out) + "\n")


main()
