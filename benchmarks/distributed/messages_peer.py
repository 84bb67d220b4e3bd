"""messages.cpp in PyTorch, on Gloo. Needs RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT."""
import statistics
import sys
import time

import torch
import torch.distributed as dist

STREAM, TURNS = 1000, 300


def microseconds(call):
    start = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - start)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for name, count in (("64_floats", 64), ("4096_floats", 4096)):
        tensors = [torch.ones(count) for _ in range(STREAM)]

        def stream():
            works = [dist.isend(t, 1) if rank == 0 else dist.irecv(t, 0) for t in tensors]
            for work in works:
                work.wait()

        def ping_pong():
            for _ in range(TURNS):
                if rank == 0:
                    dist.send(tensors[0], 1)
                dist.recv(tensors[0], 1 - rank)
                if rank == 1:
                    dist.send(tensors[0], 0)

        streams, turns = [], []
        for round in range(rounds + 1):
            dist.barrier()
            streamed = microseconds(stream) / STREAM
            dist.barrier()
            turned = microseconds(ping_pong) / TURNS
            if round > 0:
                streams.append(streamed)
                turns.append(turned)
        if rank == 0:
            for what, times in (("stream", streams), ("ping_pong", turns)):
                print(f"{what}_of_{name}_us", statistics.median(times))
                print(f"{what}_of_{name}_least_us", min(times))


main()
