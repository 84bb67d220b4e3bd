// Hooks of every kind: on tensors, on nodes, after accumulation, on saved tensors; kept gradients and callbacks.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

TEST(TensorHooks, SeeAndChangeTheGradientInOrder) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2;
  std::vector<int> calls;
  h.register_hook([&](const Tensor& g) {
    calls.push_back(1);
    EXPECT_EQ(values_of(g), Numbers({1, 1}));
    return g * 10;
  });
  h.register_hook([&](const Tensor& g) {
    calls.push_back(2);
    EXPECT_EQ(values_of(g), Numbers({10, 10}));
  });
  x.register_hook([&](const Tensor& g) {
    calls.push_back(3);
    return g + 1;
  });
  h.sum().backward();
  EXPECT_EQ(calls, std::vector<int>({1, 2, 3}));
  EXPECT_EQ(values_of(x.grad()), Numbers({21, 21}));
}

TEST(TensorHooks, CanBeRemovedAlsoByThemselves) {
  Tensor x = leaf_of({1});
  Tensor h = x * 2;
  int calls = 0;
  unsigned first = 0;
  first = h.register_hook([&](const Tensor&) {
    calls++;
    h.remove_hook(first);
  });
  unsigned leaf_hook = x.register_hook([&](const Tensor&) { calls += 100; });
  h.sum().backward({}, true);
  x.remove_hook(leaf_hook);
  h.sum().backward();
  EXPECT_EQ(calls, 101);
  EXPECT_ERROR(AutogradError, x.remove_hook(leaf_hook), "no hook at position");
  EXPECT_ERROR(AutogradError, h.remove_hook(first), "no hook at position");
}

TEST(TensorHooks, RefuseWrongShapesAndTensorsWithoutGradient) {
  Tensor x = leaf_of({1, 2});
  EXPECT_ERROR(AutogradError, x.detach().register_hook([](const Tensor& g) { return g; }), "doesn't require gradient");
  Tensor h = x * 1;
  h.register_hook([](const Tensor& g) { return g.sum(); });
  EXPECT_ERROR(AutogradError, h.sum().backward(), "a hook returned a gradient of shape []");
  x.register_hook([](const Tensor& g) { return g.sum(); });
  EXPECT_ERROR(AutogradError, (x * 1).sum().backward(), "a hook returned a gradient of shape []");
}

TEST(TensorHooks, AreSilentWhereTheRunDoesNotGo) {
  Tensor a = leaf_of({1}), b = leaf_of({2});
  int calls = 0;
  b.register_hook([&](const Tensor&) { calls++; });
  Tensor h = b * 2;
  h.register_hook([&](const Tensor&) { calls++; });
  h.retain_grad();
  grad({(a * h).sum()}, {a});
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(h.grad().defined());
  grad({(a * h).sum()}, {h});  // hooks of what is asked for run, as in PyTorch
  EXPECT_EQ(calls, 1);
}

TEST(NodeHooks, RunBeforeAndAfterTheNode) {
  Tensor x = leaf_of({3});
  Tensor y = x * 2;
  Ref<Node> node = y.grad_fn();
  unsigned pre = node->add_pre_hook([](const variable_list& g) { return variable_list{g[0] * 10}; });
  node->add_post_hook([](const variable_list& outgoing, const variable_list& incoming) {
    EXPECT_EQ(values_of(incoming[0]), Numbers({10}));
    variable_list changed = outgoing;
    changed[0] = changed[0] + 1;
    return changed;
  });
  y.sum().backward({}, true);
  EXPECT_EQ(values_of(x.grad()), Numbers({21}));
  EXPECT_TRUE(node->del_pre_hook(pre));
  EXPECT_FALSE(node->del_pre_hook(pre));
  node->add_post_hook([](const variable_list&, const variable_list&) { return variable_list{}; });
  EXPECT_ERROR(
      AutogradError,
      [&] {
        node->del_post_hook(1);
        x.mutable_grad().reset();
        Tensor z = y.sum();
        node->add_pre_hook([](const variable_list& g) { return g; });
        z.backward();
      }(),
      "a post-hook returned 0 gradients (expected 2)");
}

TEST(NodeHooks, MayRemoveThemselvesWhileTheyRun) {
  Tensor x = leaf_of({3});
  Tensor y = x * 2;
  Node* node = y.grad_fn().get();
  unsigned id = 0;
  int calls = 0;
  id = node->add_post_hook([&](const variable_list& out, const variable_list&) {
    calls++;
    node->del_post_hook(id);
    return out;
  });
  y.sum().backward({}, true);
  y.sum().backward();
  EXPECT_EQ(calls, 1);
}

TEST(AccumulationHooks, RunAfterTheGradientIsInPlace) {
  Tensor x = leaf_of({1, 2});
  std::vector<Numbers> seen;
  unsigned id = x.register_post_accumulate_grad_hook([&](const Tensor& leaf) {
    EXPECT_TRUE(leaf.is_same(x));
    seen.push_back(values_of(leaf.grad()));
    leaf.mutable_grad().reset();  // an optimizer step inside backward
  });
  (x * 3).sum().backward();
  (x * 4).sum().backward();
  EXPECT_EQ(seen, std::vector<Numbers>({{3, 3}, {4, 4}}));
  x.remove_hook(id);
  (x * 5).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({5, 5}));
  EXPECT_ERROR(AutogradError, (x * 1).register_post_accumulate_grad_hook([](const Tensor&) {}), "non-leaf");
}

TEST(RetainGrad, KeepsTheGradientOfATensorThatIsNoLeaf) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2;
  EXPECT_FALSE(h.retains_grad());
  h.retain_grad();
  h.retain_grad();
  EXPECT_TRUE(h.retains_grad());
  (h * h).sum().backward({}, true);
  EXPECT_EQ(values_of(h.grad()), Numbers({4, 8}));
  (h * 1).sum().backward();
  EXPECT_EQ(values_of(h.grad()), Numbers({5, 9}));
  EXPECT_ERROR(AutogradError, x.detach().retain_grad(), "requires_grad=False");
}

TEST(RetainGrad, TheTensorMayGoFirst) {
  Tensor x = leaf_of({1, 2}), y;
  {
    Tensor h = x * 2;
    h.retain_grad();
    y = h.sum();
  }
  y.backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 2}));
}

TEST(RetainGrad, FollowsInPlaceChanges) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2;
  h.retain_grad();
  h.mul_(3);
  (h * 5).sum().backward();
  EXPECT_EQ(values_of(h.grad()), Numbers({5, 5}));  // of the value after the change
  EXPECT_EQ(values_of(x.grad()), Numbers({30, 30}));
}

TEST(RetainGrad, OfABaseFollowsAChangeThroughAView) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2, v = h.select(0, 0);
  h.retain_grad();
  v.retain_grad();
  v.mul_(3);
  (h * 5).sum().backward();
  EXPECT_EQ(values_of(h.grad()), Numbers({5, 5}));
  EXPECT_EQ(values_of(x.grad()), Numbers({30, 10}));
  EXPECT_FALSE(v.grad().defined());  // its new place in the graph was not used
}

TEST(RetainGrad, TheHooksRunFirst) {
  Tensor h = leaf_of({1}) * 1;
  h.retain_grad();
  h.register_hook([](const Tensor& g) { return g * 7; });
  h.sum().backward();
  EXPECT_EQ(values_of(h.grad()), Numbers({7}));
}

TEST(RetainGrad, ChangingItChangesNobodyElses) {
  Tensor x = leaf_of({1});
  Tensor h = x + 0;
  h.retain_grad();
  h.sum().backward({}, std::nullopt, /*create_graph=*/true);
  NoGradGuard no_grad;
  h.mutable_grad().fill_(9);
  EXPECT_EQ(values_of(x.grad()), Numbers({1}));
}

TEST(SavedTensorHooks, PackAndUnpackWhatIsSaved) {
  Tensor x = leaf_of({1, 2});
  int packs = 0, unpacks = 0;
  Tensor y;
  {
    SavedTensorHooksScope scope({[&](const Tensor& t) -> std::shared_ptr<void> {
                                   packs++;
                                   EXPECT_FALSE(t.requires_grad());
                                   return std::make_shared<Tensor>(t.to(kDouble));
                                 },
                                 [&](const std::shared_ptr<void>& p) {
                                   unpacks++;
                                   return static_cast<Tensor*>(p.get())->to(kFloat);
                                 }});
    y = (x * x).exp().sum();
  }
  EXPECT_EQ(packs, 3);
  EXPECT_EQ(unpacks, 0);
  y.backward();
  EXPECT_EQ(unpacks, 3);
  EXPECT_FLOAT_EQ(x.grad().select(0, 1).item<float>(), 4 * std::exp(4.0f));
}

TEST(SavedTensorHooks, SecondDerivativesGoThroughThemToLeavesToo) {
  auto through_hooks = [](const Tensor& x) {
    SavedTensorHooksScope scope(
        {[](const Tensor& t) -> std::shared_ptr<void> { return std::make_shared<Tensor>(t.clone()); },
         [](const std::shared_ptr<void>& p) { return *static_cast<Tensor*>(p.get()); }});
    return (x * x * x).exp();
  };
  Tensor x = leaf_of({0.5, -0.7}, kDouble);
  EXPECT_TRUE(gradcheck(through_hooks, x));
  EXPECT_TRUE(gradgradcheck(through_hooks, x));
}

TEST(SavedTensorHooks, PlainFunctionsWillDo) {
  Tensor x = leaf_of({0.5, -0.25});
  int unpacks = 0;
  Tensor y;
  {
    graph::saved_tensors_hooks half([](const Tensor& saved) { return saved.to(kHalf); },
                                    [&](const Tensor& packed) {
                                      unpacks++;
                                      EXPECT_EQ(packed.dtype(), kHalf);
                                      return packed.to(kFloat);
                                    });
    y = (x * x).sum();
  }
  y.backward();
  EXPECT_EQ(unpacks, 2);
  EXPECT_TRUE(allclose(x.grad(), x.detach() * 2));

  x.grad().zero_();
  std::vector<Tensor> kept;
  {  // pack may return anything
    graph::saved_tensors_hooks by_number(
        [&](const Tensor& saved) {
          kept.push_back(saved);
          return kept.size() - 1;
        },
        [&](size_t number) { return kept[number]; });
    y = x.exp().sum();
  }
  y.backward();
  EXPECT_TRUE(allclose(x.grad(), x.detach().exp()));
}

TEST(SavedTensorHooks, RefuseWhatWouldGoUnnoticed) {
  Tensor x = leaf_of({1}) * 1;
  {
    SavedTensorHooksScope scope({[](const Tensor& t) -> std::shared_ptr<void> {
                                   t.mul_(2);
                                   return {};
                                 },
                                 [](const std::shared_ptr<void>&) { return Tensor(); }});
    EXPECT_ERROR(AutogradError, x * x, "pack hook is modifying its input in place");
  }
  Tensor y;
  {
    SavedTensorHooksScope scope({[](const Tensor&) -> std::shared_ptr<void> { return {}; },
                                 [](const std::shared_ptr<void>&) { return Tensor(); }});
    y = x.exp();
  }
  EXPECT_ERROR(AutogradError, y.sum().backward(), "returned an undefined tensor");
  EXPECT_ERROR(AutogradError, SavedTensorHooksScope(SavedTensorHooks{}), "both a pack and an unpack");
  (leaf_of({1}) * 2).sum().backward();  // the scopes are closed again
}

TEST(Callbacks, RunWhenBackwardHasEnded) {
  Tensor x = leaf_of({1});
  std::vector<int> order;
  x.register_hook([&](const Tensor&) {
    order.push_back(1);
    queue_callback([&] {
      order.push_back(3);
      EXPECT_TRUE(x.grad().defined());
      for (int i = 0; i < 40; i++) queue_callback([&order, i] { order.push_back(10 + i); });  // the list grows
    });
  });
  x.register_post_accumulate_grad_hook([&](const Tensor&) { order.push_back(2); });
  (x * 2).sum().backward();
  ASSERT_EQ(order.size(), 43u);
  EXPECT_EQ(order[2], 3);
  EXPECT_EQ(order[42], 49);
  EXPECT_ERROR(AutogradError, queue_callback([] {}), "only be installed during backward");
}

TEST(Callbacks, DoNotRunAfterAnError) {
  Tensor x = leaf_of({1}), h = x * 2;
  bool ran = false;
  h.register_hook([&](const Tensor&) { queue_callback([&] { ran = true; }); });
  x.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("hook"); });
  EXPECT_THROW(h.sum().backward(), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(GradDestination, GradientsAreWrittenIntoIt) {
  Tensor flat = zeros({5});
  Tensor a = leaf_of({1, 2, 3}), b = leaf_of({4, 5});
  set_grad_destination(a, flat.slice(0, 0, 3));
  set_grad_destination(b, flat.slice(0, 3, 5));
  auto run = [&] { ((a * 2).sum() + (b * 3).sum()).backward(); };
  run();
  EXPECT_EQ(values_of(flat), Numbers({2, 2, 2, 3, 3}));
  run();
  EXPECT_EQ(values_of(flat), Numbers({4, 4, 4, 6, 6}));
  a.mutable_grad().reset();  // zero_grad(set_to_none)
  run();
  EXPECT_EQ(values_of(flat), Numbers({2, 2, 2, 9, 9}));
  EXPECT_TRUE(a.grad().is_alias_of(flat));
  set_grad_destination(a, {});
  a.mutable_grad().reset();
  run();
  EXPECT_FALSE(a.grad().is_alias_of(flat));
}

TEST(GradDestination, RefusesWhatDoesNotFit) {
  Tensor a = leaf_of({1, 2});
  EXPECT_ERROR(ShapeError, set_grad_destination(a, zeros({3})), "found shape [3]");
  EXPECT_ERROR(TypeError, set_grad_destination(a, zeros({2}, kDouble)), "found dtype");
  EXPECT_ERROR(AutogradError, set_grad_destination(a * 1, zeros({2})), "wants a leaf");
  set_grad_destination(a, zeros({2}));
  EXPECT_ERROR(AutogradError, (a * a).sum().backward({}, std::nullopt, true), "create_graph");
}

}  // namespace
}  // namespace cresset
