#!/usr/bin/env python3
"""Runs PyTorch's optimizers and schedulers on the small problem of reference.h and prints what came out.

One line each: "run NAME DTYPE numbers", "lr NAME numbers", "state NAME keys", "group NAME keys", "schedule NAME keys",
and "saved NAME ID KEY dims… : numbers" for a state_dict after 50 steps ("number" in place of dims for what is no tensor).
Exit code 77: PyTorch is not installed.
"""

import sys
import warnings

try:
    import torch
except ImportError:
    sys.exit(77)

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
STEPS = 50
SHAPES = [[3, 4], [5], [2, 3, 2]]


def noise(count, seed):
    """Numbers in [-1, 1) by a linear congruential generator: exact in float32."""
    state, values = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        values.append((state >> 15) / 32768.0 - 1.0)
    return values


def parameters(dtype):
    params = []
    for i, shape in enumerate(SHAPES):
        count = torch.Size(shape).numel()
        params.append(torch.tensor(noise(count, 7 + i), dtype=dtype).reshape(shape).requires_grad_())
    return params


def set_gradients(params, step):
    for i, p in enumerate(params):
        g = torch.tensor(noise(p.numel(), 1000 + 10 * step + i), dtype=p.dtype).reshape(p.shape)
        p.grad = g + 0.5 * p.detach()


class NAdam2(torch.optim.NAdam):
    """PyTorch 2's formula: 1.13 multiplied the next product by mu twice."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"], state["mu"] = 0, torch.tensor(1.0)
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                t, grad = state["step"], p.grad
                if group["weight_decay"] != 0:
                    grad = grad.add(p, alpha=group["weight_decay"])
                mu = b1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"]))
                mu_next = b1 * (1 - 0.5 * 0.96 ** ((t + 1) * group["momentum_decay"]))
                state["mu"] *= mu
                product = state["mu"].item()
                state["m"].mul_(b1).add_(grad, alpha=1 - b1)
                state["v"].mul_(b2).addcmul_(grad, grad, value=1 - b2)
                below = state["v"].div(1 - b2**t).sqrt().add_(group["eps"])
                p.addcdiv_(grad, below, value=-group["lr"] * (1 - mu) / (1 - product))
                p.addcdiv_(state["m"], below, value=-group["lr"] * mu_next / (1 - product * mu_next))


O = torch.optim
OPTIMIZERS = {
    "sgd": lambda p: O.SGD(p, lr=0.1),
    "sgd_decay": lambda p: O.SGD(p, lr=0.05, weight_decay=0.1),
    "sgd_momentum": lambda p: O.SGD(p, lr=0.05, momentum=0.9),
    "sgd_dampening": lambda p: O.SGD(p, lr=0.05, momentum=0.8, dampening=0.3, weight_decay=0.01),
    "sgd_nesterov": lambda p: O.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd_maximize": lambda p: O.SGD(p, lr=0.01, momentum=0.5, maximize=True),
    "sgd_groups": lambda p: O.SGD([{"params": p[:1], "lr": 0.2, "momentum": 0.9}, {"params": p[1:]}], lr=0.05),
    "adam": lambda p: O.Adam(p, lr=0.01),
    "adam_decay": lambda p: O.Adam(p, lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "adam_amsgrad": lambda p: O.Adam(p, lr=0.01, amsgrad=True),
    "adam_maximize": lambda p: O.Adam(p, lr=0.01, maximize=True, weight_decay=0.1),
    "adamw": lambda p: O.AdamW(p, lr=0.01),
    "adamw_amsgrad": lambda p: O.AdamW(p, lr=0.02, betas=(0.85, 0.99), weight_decay=0.2, amsgrad=True),
    "adamw_maximize": lambda p: O.AdamW(p, lr=0.01, maximize=True),
    "adamw_groups": lambda p: O.AdamW([{"params": p[:2], "weight_decay": 0.0}, {"params": p[2:], "lr": 0.05}], lr=0.01),
    "adadelta": lambda p: O.Adadelta(p),
    "adadelta_decay": lambda p: O.Adadelta(p, lr=0.5, rho=0.8, weight_decay=0.1, maximize=True),
    "adagrad": lambda p: O.Adagrad(p),
    "adagrad_decay": lambda p: O.Adagrad(p, lr=0.1, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.3),
    "adamax": lambda p: O.Adamax(p),
    "adamax_decay": lambda p: O.Adamax(p, lr=0.01, betas=(0.8, 0.9), weight_decay=0.1, maximize=True),
    "nadam": lambda p: NAdam2(p),
    "nadam_decay": lambda p: NAdam2(p, lr=0.01, weight_decay=0.1, momentum_decay=0.01),
    "radam": lambda p: O.RAdam(p, lr=0.01),
    "radam_decay": lambda p: O.RAdam(p, lr=0.02, betas=(0.8, 0.9), weight_decay=0.1),
    "rmsprop": lambda p: O.RMSprop(p, lr=0.01),
    "rmsprop_momentum": lambda p: O.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.9, weight_decay=0.1),
    "rmsprop_centered": lambda p: O.RMSprop(p, lr=0.01, centered=True, maximize=True),
    "rmsprop_both": lambda p: O.RMSprop(p, lr=0.01, alpha=0.95, centered=True, momentum=0.5),
    "rprop": lambda p: O.Rprop(p),
    "rprop_etas": lambda p: O.Rprop(p, lr=0.02, etas=(0.4, 1.3), step_sizes=(1e-3, 0.1), maximize=True),
    "asgd": lambda p: O.ASGD(p),
    "asgd_average": lambda p: O.ASGD(p, lr=0.05, lambd=0.01, alpha=0.6, t0=10, weight_decay=0.1),
}


def print_run(name, dtype, tensors):
    numbers = [repr(float(v)) for t in tensors for v in t.detach().reshape(-1)]
    print("run", name, "float64" if dtype == torch.float64 else "float32", *numbers)


def print_keys(name, optimizer):
    state = optimizer.state_dict()
    print("group", name, *state["param_groups"][0].keys())
    if state["state"]:
        kinds = {int: "int", float: "float", torch.Tensor: "tensor", list: "list", type(None): "none"}
        print("state", name, *[f"{k}:{kinds[type(v)]}" for k, v in state["state"][0].items()])


def print_saved(name, optimizer, params):
    """The state, and where five more steps lead from it."""
    for index, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                print("saved", name, index, key, *value.shape, ":", *[repr(float(v)) for v in value.reshape(-1)])
            else:
                print("saved", name, index, key, "number", ":", value)
    for step in range(STEPS, STEPS + 5):
        set_gradients(params, step)
        optimizer.step()
    print_run(name + "_more", torch.float64, params)


def run_optimizers():
    for dtype in (torch.float64, torch.float32):
        for name, make in OPTIMIZERS.items():
            params = parameters(dtype)
            optimizer = make(params)
            for step in range(STEPS):
                set_gradients(params, step)
                optimizer.step()
            extra = [optimizer.state[p]["ax"] for p in params] if name.startswith("asgd") else []
            print_run(name, dtype, params + extra)
            if dtype == torch.float64 and "_" not in name and name != "nadam":
                print_keys(name, optimizer)
            if dtype == torch.float64 and "nadam" not in name and name != "sgd":
                print_saved(name, optimizer, params)
    params = parameters(torch.float64)
    optimizer = O.NAdam(params)
    set_gradients(params, 0)
    optimizer.step()
    print_keys("nadam", optimizer)


def rosenbrock(p):
    """A curved valley in three parameters."""
    x, y, z = p
    return ((1 - x) ** 2).sum() + 10 * ((y - x**2) ** 2).sum() + (z - 0.5).pow(4).sum()


def run_lbfgs():
    variants = {
        "lbfgs": dict(lr=0.1, max_iter=4),
        "lbfgs_history": dict(lr=0.05, max_iter=5, history_size=3),
        "lbfgs_wolfe": dict(lr=1, max_iter=4, line_search_fn="strong_wolfe"),
        "lbfgs_wolfe_long": dict(lr=0.8, max_iter=10, history_size=5, line_search_fn="strong_wolfe"),
    }
    for dtype in (torch.float64, torch.float32):
        for name, options in variants.items():
            p = [torch.tensor(noise(4, 3 + i), dtype=dtype).requires_grad_() for i in range(3)]
            optimizer = O.LBFGS(p, **options)

            def closure():
                optimizer.zero_grad()
                loss = rosenbrock(p)
                loss.backward()
                return loss

            # Fewer where each step is long: curvature multiplies what rounding leaves.
            long = name == "lbfgs_wolfe_long"
            for _ in range((3 if long else 8) if dtype == torch.float64 else (1 if long else 2)):
                optimizer.step(closure)
            print_run(name, dtype, p)
            if name == "lbfgs" and dtype == torch.float64:
                print_keys(name, optimizer)


def run_sparse_adam():
    for dtype in (torch.float64, torch.float32):
        for name, options in {"sparse_adam": {}, "sparse_adam_betas": dict(lr=0.05, betas=(0.7, 0.9), maximize=True)}.items():
            table = torch.tensor(noise(18, 5), dtype=dtype).reshape(6, 3).requires_grad_()
            optimizer = O.SparseAdam([table], **options)
            for step in range(STEPS):
                rows = sorted({step % 6, (step * step) % 6})
                values = torch.tensor(noise(3 * len(rows), 50 + step), dtype=dtype).reshape(-1, 3)
                table.grad = torch.sparse_coo_tensor([rows], values, (6, 3))
                optimizer.step()
            print_run(name, dtype, [table])
            if name == "sparse_adam" and dtype == torch.float64:
                print_keys(name, optimizer)


S = torch.optim.lr_scheduler


def sequential(o):
    return S.SequentialLR(o, [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9), S.CosineAnnealingLR(o, 8, 0.001)], [5, 12])


def chained(o):
    return S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.95), S.StepLR(o, 7, 0.5)])


SCHEDULERS = {
    "lambda": lambda o: S.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda o: S.MultiplicativeLR(o, lambda e: 0.9 + 0.001 * e),
    "step": lambda o: S.StepLR(o, 7, 0.3),
    "multistep": lambda o: S.MultiStepLR(o, [20, 5, 9, 9], 0.5),
    "constant": lambda o: S.ConstantLR(o, 0.3, 6),
    "linear": lambda o: S.LinearLR(o, 0.2, 0.9, 8),
    "exponential": lambda o: S.ExponentialLR(o, 0.93),
    "polynomial": lambda o: S.PolynomialLR(o, 20, 1.7),
    "cosine": lambda o: S.CosineAnnealingLR(o, 9, 0.003),
    "restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 5, 2, 0.001),
    "restarts_same": lambda o: S.CosineAnnealingWarmRestarts(o, 6),
    "cyclic": lambda o: S.CyclicLR(o, 0.01, [0.1, 0.3], step_size_up=4, step_size_down=7),
    "cyclic2": lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=5, mode="triangular2", base_momentum=0.7),
    "cyclic_range": lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=5, mode="exp_range", gamma=0.95),
    "cyclic_own": lambda o: S.CyclicLR(o, 0.01, 0.2, step_size_up=3, scale_fn=lambda x: 1 / x, cycle_momentum=False),
    "onecycle": lambda o: S.OneCycleLR(o, 0.5, total_steps=41),
    "onecycle_linear": lambda o: S.OneCycleLR(o, [0.5, 0.2], epochs=6, steps_per_epoch=7, anneal_strategy="linear", pct_start=0.2),
    "onecycle_three": lambda o: S.OneCycleLR(o, 0.5, total_steps=41, three_phase=True, div_factor=10, cycle_momentum=False),
    "sequential": sequential,
    "chained": chained,
    "swa": lambda o: torch.optim.swa_utils.SWALR(o, 0.05, anneal_epochs=6),
    "swa_linear": lambda o: torch.optim.swa_utils.SWALR(o, [0.05, 0.3], anneal_epochs=4, anneal_strategy="linear"),
}


def run_schedulers():
    for name, make in SCHEDULERS.items():
        a, b = torch.zeros(2, requires_grad=True), torch.zeros(3, requires_grad=True)
        optimizer = O.SGD([{"params": [a]}, {"params": [b], "lr": 0.4}], lr=0.1, momentum=0.9)
        scheduler = make(optimizer)
        numbers = []
        for _ in range(40):
            optimizer.step()
            numbers += [v for g in optimizer.param_groups for v in (g["lr"], g["momentum"])]
            scheduler.step()
        print("lr", name, *[repr(float(v)) for v in numbers])
        hidden = ("_scale_fn_ref", "_scale_fn_custom", "anneal_func")
        print("schedule", name, *[k for k in scheduler.state_dict() if k not in hidden])
    # Adam's first beta is its momentum.
    a = torch.zeros(2, requires_grad=True)
    optimizer = O.Adam([a], lr=0.1)
    scheduler = S.OneCycleLR(optimizer, 0.5, total_steps=20)
    numbers = []
    for _ in range(20):
        optimizer.step()
        numbers += [optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"][0]]
        scheduler.step()
    print("lr onecycle_adam", *[repr(float(v)) for v in numbers])


def run_plateau():
    variants = {
        "plateau": dict(factor=0.5, patience=2),
        "plateau_max": dict(mode="max", factor=0.3, patience=1, threshold=0.05, threshold_mode="abs", cooldown=2, min_lr=[0.01, 0.02]),
    }
    for name, options in variants.items():
        a, b = torch.zeros(2, requires_grad=True), torch.zeros(3, requires_grad=True)
        optimizer = O.SGD([{"params": [a]}, {"params": [b], "lr": 0.4}], lr=0.1)
        scheduler = S.ReduceLROnPlateau(optimizer, **options)
        numbers = []
        for i, metric in enumerate(noise(40, 11)):
            scheduler.step(2 + metric / (1 + i))
            numbers += [g["lr"] for g in optimizer.param_groups]
        print("lr", name, *[repr(float(v)) for v in numbers])
        print("schedule", name, *scheduler.state_dict().keys())


if __name__ == "__main__":
    run_optimizers()
    run_lbfgs()
    run_sparse_adam()
    run_schedulers()
    run_plateau()
