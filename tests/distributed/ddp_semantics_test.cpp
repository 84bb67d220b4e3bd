// The ways in which models use their parameters: shared, twice, not at all, checkpointed, frozen later; and what
// backward may do: accumulate, come twice, throw.
#include <gtest/gtest.h>

#include "ddp_support.h"

using namespace ddp_test;

namespace {

// Linear layers of which each call uses some.
struct BranchesImpl : nn::Module {
  nn::Linear first = nn::Linear(register_module("first", nn::Linear(4, 4)));
  nn::Linear left = nn::Linear(register_module("left", nn::Linear(4, 2)));
  nn::Linear right = nn::Linear(register_module("right", nn::Linear(4, 2)));
  nn::Linear never = nn::Linear(register_module("never", nn::Linear(4, 2)));
  Tensor forward(const Tensor& x, bool use_left, bool use_right) {
    Tensor h = first(x).tanh(), sum = cresset::zeros({x.size(0), 2});
    if (use_left) sum = sum + left(h);
    if (use_right) sum = sum + right(h);
    return sum + h.sum() * 0.1;
  }
};
CRESSET_MODULE(Branches);

Tensor filled(double value) { return cresset::full({3, 4}, value); }

}  // namespace

TEST(DdpSemantics, NoSyncAddsUpLocallyAndTheNextBackwardAveragesTheSum) {
  run(2, [](int rank) {
    cresset::manual_seed(3);
    nn::Sequential net = mlp(), alone = mlp();
    alone->load_state_dict(net->state_dict());
    dist::DistributedDataParallel model(net);
    const Tensor x = cresset::randn({2, 4, 3, 6});  // rank, micro-batch
    {
      auto guard = model.no_sync();
      for (int i = 0; i < 3; i++) model(x[rank][i]).square().sum().backward();
    }
    REQUIRE(model.steps() == 0);
    model(x[rank][3]).square().sum().backward();
    REQUIRE(model.steps() == 1);
    (alone->forward(x.reshape({-1, 6})).square().sum() / 2).backward();
    for (size_t i = 0; i < net->parameters().size(); i++)
      REQUIRE(relative_difference(net->parameters()[i].grad(), alone->parameters()[i].grad()) < 1e-6);
  });
}

TEST(DdpSemantics, UnusedParametersGetTheOthersShareOrKeepWhatTheyHave) {
  for (bool as_view : {true, false})
    run(2, [as_view](int rank) {
      cresset::manual_seed(1);
      Branches net;
      dist::DistributedDataParallel model(
          net, dist::DDPOptions().find_unused_parameters(true).bucket_cap_mb(0.0001).gradient_as_bucket_view(as_view));
      for (int step = 0; step < 3; step++) {
        net->zero_grad();
        model(filled(1), rank == 0, false).sum().backward();  // left: rank 0 alone; right: nobody
        REQUIRE(!net->right->weight.grad().defined());
        REQUIRE(!net->never->weight.grad().defined());
        require_same_everywhere(net->left->weight.grad(), "left.weight");
        require_same_everywhere(net->first->weight.grad(), "first.weight");
        const Tensor expected = net->first(filled(1)).tanh().sum(0).expand({2, 4}) / 2;
        REQUIRE(relative_difference(net->left->weight.grad(), expected) < 1e-6);
      }
      // A gradient that was there stays, whatever others do.
      net->never->weight.mutable_grad() = cresset::full({2, 4}, 7.0);
      model(filled(1), true, true).sum().backward();
      REQUIRE(same_bits(net->never->weight.grad(), cresset::full({2, 4}, 7.0)));
      REQUIRE(net->right->weight.grad().defined());
    });
}

// The graph says that they are used, but the loss does not look at that result.
TEST(DdpSemantics, UnusedResultsOfForwardAreNoProblemWithTheFlag) {
  run(2, [](int rank) {
    struct Two : nn::Module {
      nn::Linear a = nn::Linear(register_module("a", nn::Linear(2, 2)));
      nn::Linear b = nn::Linear(register_module("b", nn::Linear(2, 2)));
      std::tuple<Tensor, Tensor> forward(const Tensor& x) { return {a(x), b(x)}; }
    };
    auto net = std::make_shared<Two>();
    dist::DistributedDataParallel model(net, dist::DDPOptions().find_unused_parameters(true));
    auto [a, b] = model(cresset::ones({1, 2}) * (rank + 1));
    a.sum().backward();
    REQUIRE(relative_difference(net->a->weight.grad(), cresset::full({2, 2}, 1.5)) < 1e-6);
    REQUIRE(!net->b->weight.grad().defined());
  });
}

TEST(DdpSemantics, StaticGraphRemembersWhatTheFirstStepDidNotUse) {
  run(2, [](int rank) {
    Branches net;
    dist::DistributedDataParallel model(net, dist::DDPOptions().static_graph(true).bucket_cap_mb(0.0001));
    for (int step = 0; step < 3; step++) {
      net->zero_grad();
      model(filled(1), rank == 0, false).sum().backward();
      REQUIRE(!net->right->weight.grad().defined());
      require_same_everywhere(net->left->weight.grad(), "left.weight");
    }
  });
}

TEST(DdpSemantics, SharedParametersAndALayerUsedTwice) {
  run(2, [](int rank) {
    struct Tied : nn::Module {
      nn::Linear a = nn::Linear(register_module("a", nn::Linear(nn::LinearOptions(3, 3).bias(false))));
      nn::Linear b = nn::Linear(register_module("b", nn::Linear(nn::LinearOptions(3, 3).bias(false))));
      Tied() {
        b->unregister_parameter("weight");
        b->weight = b->register_parameter("weight", a->weight);
      }
      Tensor forward(const Tensor& x) { return a(b(a(x).tanh()).tanh()); }
    };
    cresset::manual_seed(2);
    auto net = std::make_shared<Tied>();
    const Tensor x = cresset::randn({4, 3});
    Tensor whole = cresset::autograd::grad({net->forward(x).square().mean()}, {net->a->weight})[0];
    dist::DistributedDataParallel model(net);
    REQUIRE(model.parameters().size() == 1);
    model(rows_of(x, rank, 2)).square().mean().backward();
    REQUIRE(relative_difference(net->a->weight.grad(), whole) < 1e-6);
  });
}

// In memory they lie otherwise than in a row, and so do their gradients: the optimizer wants them alike.
TEST(DdpSemantics, ParametersOfAnyLayout) {
  run(2, [](int rank) {
    struct Turned : nn::Module {
      Tensor w = register_parameter("w", cresset::randn({3, 5}).t());
      Tensor empty = register_parameter("empty", cresset::zeros({0}));
      Tensor forward(const Tensor& x) { return x.matmul(w).sum() + empty.sum(); }
    };
    auto net = std::make_shared<Turned>();
    dist::DistributedDataParallel model(net);
    for (int step = 0; step < 2; step++) {
      net->zero_grad();
      model(cresset::full({2, 5}, rank + 1.0)).backward();
    }
    REQUIRE(relative_difference(net->w.grad(), cresset::full({5, 3}, 3.0)) < 1e-6);
    REQUIRE(net->w.grad().strides() == net->w.strides());
    REQUIRE(net->empty.grad().defined());
  });
}

TEST(DdpSemantics, CheckpointedLayers) {
  run(2, [](int rank) {
    cresset::manual_seed(2);
    nn::Sequential net = mlp();
    struct Saving : nn::Module {
      explicit Saving(nn::Sequential inner) : inner(register_module("inner", inner)) {}
      nn::Sequential inner;
      Tensor forward(const Tensor& x) {
        return cresset::autograd::checkpoint([this](const Tensor& in) { return inner->forward(in); }, x);
      }
    };
    const Tensor x = cresset::randn({4, 6});
    std::vector<Tensor> whole = cresset::autograd::grad({net->forward(x).square().mean()}, net->parameters());
    dist::DistributedDataParallel model(std::make_shared<Saving>(net), dist::DDPOptions().bucket_cap_mb(0.0005));
    for (int step = 0; step < 2; step++) {
      net->zero_grad();
      model(rows_of(x, rank, 2)).square().mean().backward();
    }
    for (size_t i = 0; i < whole.size(); i++)
      REQUIRE(relative_difference(net->parameters()[i].grad(), whole[i]) < 1e-6);
  });
}

TEST(DdpSemantics, ParametersMayBeFrozenAndThawedLater) {
  run(2, [](int rank) {
    cresset::manual_seed(2);
    nn::Sequential net = mlp();
    dist::DistributedDataParallel model(net);
    const Tensor x = cresset::randn({3, 6}) + rank;
    auto step = [&] {
      net->zero_grad();
      model(x).square().mean().backward();
    };
    step();
    const std::vector<Tensor> parameters = net->parameters();
    parameters[0].requires_grad_(false);
    step();
    REQUIRE(!parameters[0].grad().defined());
    require_same_everywhere(parameters[1].grad(), "1");
    parameters[0].requires_grad_(true);
    step();
    for (const Tensor& p : parameters) require_same_everywhere(p.grad(), "thawed");
    REQUIRE(model.steps() == 3);
  });
}

TEST(DdpSemantics, BackwardTwiceOfOneForwardAveragesBoth) {
  run(2, [](int rank) {
    cresset::manual_seed(2);
    nn::Sequential net = mlp();
    const Tensor x = cresset::randn({4, 6});
    std::vector<Tensor> whole = cresset::autograd::grad({net->forward(x).square().mean()}, net->parameters());
    dist::DistributedDataParallel model(net);
    Tensor loss = model(rows_of(x, rank, 2)).square().mean();
    loss.backward({}, /*retain_graph=*/true);
    loss.backward();
    for (size_t i = 0; i < whole.size(); i++)
      REQUIRE(relative_difference(net->parameters()[i].grad(), whole[i] * 2) < 1e-6);
  });
}

TEST(DdpSemantics, SeveralForwardsOneBackward) {
  run(2, [](int rank) {
    cresset::manual_seed(2);
    nn::Sequential net = mlp();
    const Tensor x = cresset::randn({4, 6});
    auto loss = [&](auto& f, const Tensor& part) { return (f(part) * f(part * 2)).mean(); };
    auto plain = [&](const Tensor& in) { return net->forward(in); };
    std::vector<Tensor> whole = cresset::autograd::grad({loss(plain, x)}, net->parameters());
    dist::DistributedDataParallel model(net, dist::DDPOptions().find_unused_parameters(true));
    loss(model, rows_of(x, rank, 2)).backward();
    for (size_t i = 0; i < whole.size(); i++)
      REQUIRE(relative_difference(net->parameters()[i].grad(), whole[i]) < 1e-6);
  });
}

TEST(DdpSemantics, AnExceptionInForwardOrBackwardLeavesItUsable) {
  run(2, [](int rank) {
    cresset::manual_seed(2);
    nn::Sequential net = mlp();
    dist::DistributedDataParallel model(net, dist::DDPOptions().bucket_cap_mb(0.0001));
    const Tensor x = cresset::randn({3, 6}) + rank;
    auto throws = [](auto&& f) {
      try {
        f();
      } catch (const std::runtime_error&) {
        return true;
      } catch (const cresset::Error&) {
        return true;
      }
      return false;
    };
    REQUIRE(throws([&] { model(cresset::ones({3, 99})); }));
    REQUIRE(throws([&] {
      // The gradient of the middle: some buckets are on their way already.
      Tensor h = net[0]->as<nn::Linear>()->forward(x);
      Tensor middle = h.tanh();
      middle.register_hook([](const Tensor& g) -> Tensor {
        throw std::runtime_error("in backward");
        return g;
      });
      Tensor y = net[2]->as<nn::Linear>()->forward(middle).tanh();
      net[4]->as<nn::Linear>()->forward(y).sum().backward();
    }));
    for (int step = 0; step < 2; step++) {
      net->zero_grad();
      model(x).square().mean().backward();
      for (const Tensor& p : net->parameters()) require_same_everywhere(p.grad(), "after the exception");
    }
  });
}

TEST(DdpSemantics, BuffersAreRankZerosBeforeEachForwardInTraining) {
  run(2, [](int rank) {
    nn::Sequential net(nn::Linear(3, 3), nn::BatchNorm1d(3));
    dist::DistributedDataParallel model(net);
    auto norm = std::dynamic_pointer_cast<nn::BatchNorm1dImpl>(net->children()[1]);
    REQUIRE(norm);
    for (int step = 0; step < 3; step++) model(cresset::randn({4, 3}) + rank).sum().backward();
    Tensor before = norm->running_mean.clone();
    dist::broadcast(before, 0);
    model(cresset::zeros({4, 3})).sum().backward();  // the same input: now all statistics agree
    require_same_everywhere(norm->running_mean, "running_mean");
    model->eval();
    Tensor kept = norm->running_mean.clone();
    model(cresset::randn({4, 3}));
    REQUIRE(same_bits(kept, norm->running_mean));
  });
}

TEST(DdpSemantics, NamesAreTheModelsOrPyTorchs) {
  run(2, [](int) {
    nn::Sequential net(nn::Linear(3, 3));
    dist::DistributedDataParallel model(net);
    REQUIRE(model.state_dict().keys() == std::vector<std::string>({"module.0.weight", "module.0.bias"}));
    REQUIRE(model.module().state_dict().keys() == std::vector<std::string>({"0.weight", "0.bias"}));
    model.load_state_dict(model.state_dict());
    model.load_state_dict(net->state_dict());
    model->train();
    REQUIRE(net->is_training());
    model->eval();
    REQUIRE(!net->is_training());
  });
}

TEST(DdpSemantics, WorksInAGroupOfSomeRanks) {
  run(3, [](int rank) {
    dist::Group pair = dist::new_group({0, 2});
    if (rank == 1) return;
    nn::Sequential net = mlp();
    dist::DistributedDataParallel model(net, dist::DDPOptions().group(pair));
    model(cresset::full({2, 6}, rank + 1.0)).sum().backward();
    Tensor mine = net->parameters()[0].grad().clone(), sum = mine.clone();
    dist::all_reduce(sum, {dist::ReduceOp::AVG, pair});
    REQUIRE(relative_difference(mine, sum) < 1e-6);
  });
}
