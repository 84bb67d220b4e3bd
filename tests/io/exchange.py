"""Files exchanged with PyTorch, NumPy and safetensors. usage: exchange.py write|check torch|numpy|safetensors FOLDER"""
import collections
import sys

action, kind, folder = sys.argv[1:]
try:
    if kind == "torch":
        import torch
    elif kind == "numpy":
        import numpy as np
    else:
        import numpy as np
        import safetensors.numpy
except ImportError:
    sys.exit(77)


def same(found, wanted):
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    assert tuple(found.shape) == tuple(wanted.shape), (found.shape, wanted.shape)
    assert (found == wanted).all(), (found, wanted)


def torch_write():
    x = torch.arange(24.0).reshape(4, 6)
    dtypes = {str(d)[6:]: torch.tensor([0, 1, 2, 100]).to(d) for d in (
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
        torch.complex64, torch.complex128, torch.bool, torch.bfloat16)}
    torch.save({"dtypes": dtypes, "x": x, "row": x[1], "t": x.t(), "step": x[::2, 1::2], "same": x,
                "parameter": torch.nn.Parameter(torch.ones(2, 3)), "wants": torch.ones(2, requires_grad=True),
                "scalar": torch.tensor(3.5), "empty": torch.empty(0, 5), "expanded": torch.tensor([1.0]).expand(3, 4),
                "size": x.size(), "dtype": torch.float16,
                "device": torch.device("cpu"), "bytes": b"ab", "set": {1, 2},
                "none": None, "true": True, "int": 7, "negative": -70000, "long": 2**40, "min": -2**63, "float": 2.5,
                "text": "h\u00e4llo", "list": [1, [2, (3, "x")]], "tuple": (1, 2, 3, 4), "ints": {0: "a", 5: "b"},
                "inf": float("-inf")}, folder + "/all.pt")
    shared = [1, 2]
    torch.save([shared, shared], folder + "/shared_list.pt")
    torch.save(x, folder + "/tensor.pt")
    torch.save(x, folder + "/legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(2**70, folder + "/huge_int.pt")
    for protocol in (3, 4, 5):
        torch.save({"x": x, "l": [1, 2.0, "s"], "d": {}}, folder + f"/protocol{protocol}.pt", pickle_protocol=protocol)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    net(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, folder + "/training.pt")
    torch.save(net, folder + "/module.pt")
    torch.jit.script(net).save(folder + "/script.pt")


def torch_check():
    x = torch.arange(24.0).reshape(4, 6)
    for options in ({}, {"weights_only": True}):
        names = ("all.pt", "memory.pt") if not options else ("nofloat.pt",)  # 1.13's weights_only knows no floats
        for name in names:
            held = torch.load(folder + "/" + name, **options)
            same(held["x"], x)
            same(held["t"], x.t())
            assert held["t"].stride() == (1, 6), held["t"].stride()
            assert held["t"].storage().data_ptr() == held["x"].storage().data_ptr()
            same(held["row"], x[1])
            same(held["slice"], torch.arange(100.0, 110.0))
            assert len(held["slice"].storage()) == 10, len(held["slice"].storage())
            for name, tensor in held["dtypes"].items():
                same(tensor, torch.tensor([0, 1, 2, 100]).to(getattr(torch, name)))
            assert held["wants"].requires_grad and not held["x"].requires_grad
            assert held["list"] == [1, ["b", None], True] and held["tuple"] == (1, ()) and held["ints"] == {0: "a", 5: "b"}
            assert held["numbers"] == [0, 255, 256, 65536, -1, 2**31, -2**31, 2**63 - 1, -2**63], held["numbers"]
            assert held["text"] == "h\u00e4llo" and held["scalar"].shape == () and held["empty"].shape == (0, 5)
            if not options:
                assert held["float"] == 2.5 and held["typed"] == [1.5, -2.0]
    net = torch.nn.Linear(3, 4)
    net.load_state_dict(torch.load(folder + "/state.pt"))
    same(net.weight.data, torch.arange(12.0).reshape(4, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=1, momentum=0.9)
    optimizer.load_state_dict(torch.load(folder + "/sgd.pt"))
    assert optimizer.param_groups[0]["lr"] == 0.125
    same(optimizer.state[net.weight]["momentum_buffer"], torch.ones(4, 3))


def numpy_write():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for code in ("?", "u1", "i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", "<c8", "<c16", ">i4", ">f8", ">c8"):
        np.save(folder + "/" + code.replace("?", "b1").replace("<", "l").replace(">", "b") + ".npy",
                np.array([[0, 1], [2, 100]]).astype(code))
    np.save(folder + "/fortran.npy", np.asfortranarray(x))
    np.save(folder + "/scalar.npy", np.float32(2.5))
    np.save(folder + "/empty.npy", np.zeros((0, 3)))
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(folder + f"/version{version[0]}.npy", "wb") as f:
            np.lib.format.write_array(f, x, version=version)
    np.save(folder + "/object.npy", np.array([{}, 1], dtype=object))
    np.save(folder + "/struct.npy", np.zeros(2, dtype=[("a", "i4"), ("b", "f4")]))
    np.save(folder + "/text.npy", np.array(["ab", "c"]))
    np.save(folder + "/unsigned.npy", np.zeros(2, dtype=np.uint32))
    np.savez(folder + "/plain.npz", x=x, y=np.arange(3))
    np.savez_compressed(folder + "/packed.npz", x=np.tile(x, (50, 1, 1)), y=np.arange(3))


def numpy_check():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    same(np.load(folder + "/x.npy"), x)
    same(np.load(folder + "/t.npy"), x.transpose(2, 1, 0))
    same(np.load(folder + "/one.npy"), np.arange(5, dtype=np.int64))
    assert np.load(folder + "/scalar.npy") == 2.5 and np.load(folder + "/scalar.npy").shape == ()
    held = np.load(folder + "/all.npz")
    for name in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool"):
        same(held[name], np.array([0, 1, 2, 100]).astype(name))


def safetensors_arrays():
    return {name: np.array([[0, 1], [2, 100]]).astype(name)
            for name in ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "bool")}


def safetensors_write():
    safetensors.numpy.save_file({**safetensors_arrays(), "empty": np.zeros((0, 4), np.float32), "scalar": np.array(2.5, np.float32)},
                                folder + "/theirs.safetensors", metadata={"who": "\u00fc", "format": "np"})


def safetensors_check():
    with safetensors.safe_open(folder + "/ours.safetensors", "np") as f:
        assert f.metadata() == {"who": "\u00fc"}, f.metadata()
        for name, wanted in safetensors_arrays().items():
            same(f.get_tensor(name), wanted)
        assert f.get_tensor("empty").shape == (0, 4)


globals()[f"{kind}_{action}"]()
