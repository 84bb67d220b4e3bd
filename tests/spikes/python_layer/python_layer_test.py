#!/usr/bin/env python3
"""SPIKE 5. A Python class deriving from a bound C++ base lives as long as its C++ container, and a tensor has one Python
object: `x.grad is x.grad`."""

import gc
import sys
import unittest
import weakref

try:
    import cresset_spike as spike
except ImportError as error:
    print(f"the spike's module cannot be imported: {error}")
    sys.exit(77)


class Scale(spike.Layer):
    """Overrides forward and has state that only Python knows."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class Failing(spike.Layer):
    def forward(self, x):
        raise ValueError("the layer's own words")


def gradient_of(x):
    """x with a gradient of [3, 3]."""
    x.requires_grad_()
    (x * 3).backward(spike.tensor([1, 1]))
    return x


class Layers(unittest.TestCase):
    def test_cpp_calls_the_override_after_python_dropped_the_layer(self):
        layers = spike.Layers()
        layers.append(Scale(5))
        layers.append(spike.Twice())
        gc.collect()
        self.assertEqual(layers.forward(spike.tensor([1, 2])).tolist(), [10, 20])

    def test_the_layer_comes_back_as_the_object_it_was(self):
        layers = spike.Layers()
        layers.append(Scale(5))
        self.assertIs(layers[0], layers[0])
        self.assertIsInstance(layers[0], Scale)
        self.assertEqual(layers[0].factor, 5)
        layers[0].factor = 7
        self.assertEqual(layers.forward(spike.tensor([1])).tolist(), [7])

    def test_the_layer_goes_with_its_container(self):
        layers = spike.Layers()
        layer = Scale(5)
        gone = weakref.ref(layer)
        layers.append(layer)
        del layer
        gc.collect()
        self.assertIsNotNone(gone())
        del layers
        gc.collect()
        self.assertIsNone(gone())

    def test_the_override_is_called_from_a_thread_that_has_no_python(self):
        layers = spike.Layers()
        layers.append(Scale(2))
        self.assertEqual(spike.forward_in_a_thread(layers, spike.tensor([4])).tolist(), [8])

    def test_an_exception_of_the_override_reaches_the_caller(self):
        layers = spike.Layers()
        layers.append(Failing())
        with self.assertRaisesRegex(ValueError, "the layer's own words"):
            layers.forward(spike.tensor([1]))


class TensorObjects(unittest.TestCase):
    def test_a_gradient_is_one_object(self):
        x = gradient_of(spike.tensor([1, 2]))
        self.assertIs(x.grad, x.grad)
        self.assertEqual(x.grad.tolist(), [3, 3])

    def test_a_tensor_without_gradient_has_none(self):
        self.assertIsNone(spike.tensor([1]).grad)

    def test_an_attribute_stays_while_only_cpp_holds_the_tensor(self):
        x = gradient_of(spike.tensor([1, 2]))
        x.grad.note = "kept"
        for _ in range(3):  # over and back more than once
            gc.collect()
            self.assertEqual(x.grad.note, "kept")

    def test_the_object_goes_when_the_last_cpp_handle_goes(self):
        x = gradient_of(spike.tensor([1, 2]))
        x.grad.note = "kept"
        gone = weakref.ref(x.grad)
        self.assertIsNotNone(gone())
        x.grad = None
        self.assertIsNone(gone())

    def test_python_keeps_a_tensor_that_cpp_has_let_go(self):
        x = gradient_of(spike.tensor([1, 2]))
        gradient = x.grad
        del x
        gc.collect()
        self.assertEqual(gradient.tolist(), [3, 3])

    def test_an_object_revived_through_a_weak_reference_keeps_its_tensor(self):
        x = gradient_of(spike.tensor([1, 2]))
        x.grad.note = "kept"
        weak = weakref.ref(x.grad)
        gradient = weak()
        del x
        gc.collect()
        self.assertEqual((gradient.tolist(), gradient.note), ([3, 3], "kept"))
        del gradient
        self.assertIsNone(weak())

    def test_many_come_and_go(self):
        x = gradient_of(spike.tensor([1, 2]))
        for i in range(10000):
            x.grad.note = i
            x.grad = spike.tensor([i])
            self.assertEqual(x.grad.tolist(), [i])


if __name__ == "__main__":
    unittest.main()
