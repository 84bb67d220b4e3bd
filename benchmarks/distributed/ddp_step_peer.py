"""ddp_step.cpp in PyTorch: DistributedDataParallel on Gloo. Needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


def mlp():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def step_ms(model, optimizer, x, y, steps):
    times = []
    cpu = time.process_time()
    for _ in range(steps):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times), 1e3 * (time.process_time() - cpu) / steps


def main():
    rounds, steps = int(sys.argv[1]) if len(sys.argv) > 1 else 8, 25
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    x, y = torch.randn(64, 784), torch.randint(10, (64,))
    local, model = mlp(), nn.parallel.DistributedDataParallel(mlp())
    local_optimizer = torch.optim.SGD(local.parameters(), 1e-3)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    step_ms(local, local_optimizer, x, y, 10)
    step_ms(model, optimizer, x, y, 10)
    alone, together = [], []
    for _ in range(rounds):
        dist.barrier()
        alone.append(step_ms(local, local_optimizer, x, y, steps))
        dist.barrier()
        together.append(step_ms(model, optimizer, x, y, steps))
    if dist.get_rank() == 0:
        figures = [statistics.median(values) for both in (zip(*alone), zip(*together)) for values in both]
        print("local_ms {0:.4f} ddp_ms {2:.4f} local_cpu_ms {1:.4f} ddp_cpu_ms {3:.4f}".format(*figures))
    dist.destroy_process_group()


main()
