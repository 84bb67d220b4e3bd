// Every collective, dtype, reduction and group at 1 to 4 ranks, against a reference computed here.
#include <gtest/gtest.h>

#include <cstring>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using cresset::testing::run_ranks;

constexpr DType kAll[] = {kUInt8,   kInt8,    kInt16,        kInt32,         kInt64, kFloat16,
                          kFloat32, kFloat64, kComplexFloat, kComplexDouble, kBool,  kBFloat16};
constexpr ReduceOp kOps[] = {ReduceOp::SUM, ReduceOp::AVG,  ReduceOp::PRODUCT, ReduceOp::MIN,
                             ReduceOp::MAX, ReduceOp::BAND, ReduceOp::BOR,     ReduceOp::BXOR};

// Small whole numbers, which every dtype holds exactly, and so do their sums and products over four ranks.
int64_t value(int rank, int64_t i) { return (rank * 5 + i * 3) % 4; }

Tensor made_of(int64_t count, DType dtype, const std::function<double(int64_t)>& f) {
  Tensor out = empty({count}, kFloat64);
  for (int64_t i = 0; i < count; i++) out.data_ptr<double>()[i] = f(i);
  return out.to(dtype);
}

Tensor mine(int rank, int64_t count, DType dtype) {
  return made_of(count, dtype, [&](int64_t i) { return static_cast<double>(value(rank, i)); });
}

bool has(ReduceOp op, DType dtype) {
  if (op == ReduceOp::AVG) return !is_integral(dtype, true);
  if (op == ReduceOp::MIN || op == ReduceOp::MAX) return !is_complex(dtype);
  if (op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR) return is_integral(dtype, true);
  return true;
}

double reduced(ReduceOp op, DType dtype, const std::vector<int>& ranks, int64_t i) {
  int64_t out = value(ranks[0], i);
  if (dtype == kBool) out = out != 0;
  for (size_t r = 1; r < ranks.size(); r++) {
    int64_t next = value(ranks[r], i);
    if (dtype == kBool) next = next != 0;
    switch (op) {
      case ReduceOp::SUM:
      case ReduceOp::AVG:
        out += next;
        break;
      case ReduceOp::PRODUCT:
        out *= next;
        break;
      case ReduceOp::MIN:
        out = std::min(out, next);
        break;
      case ReduceOp::MAX:
        out = std::max(out, next);
        break;
      case ReduceOp::BAND:
        out &= next;
        break;
      case ReduceOp::BOR:
        out |= next;
        break;
      case ReduceOp::BXOR:
        out ^= next;
        break;
    }
  }
  return op == ReduceOp::AVG ? static_cast<double>(out) / static_cast<double>(ranks.size()) : static_cast<double>(out);
}

void expect_same(const Tensor& found, const Tensor& wanted, const std::string& what) {
  // An average of three is not exact; everything else is.
  EXPECT_TRUE(equal(found, wanted) || (!is_integral(found.dtype(), true) && allclose(found, wanted, 1e-2, 1e-3)))
      << what << " of " << name_of(found.dtype()) << "[" << found.numel() << "]";
}

struct Case {
  Group group;
  std::vector<int> ranks;  // of the world
  int me;                  // in the world
};

void check_reductions(const Case& c, DType dtype, int64_t count) {
  for (const ReduceOp op : kOps) {
    if (!has(op, dtype)) continue;
    const std::string name = name_of(op);
    const auto expected = [&](int64_t begin, int64_t length) {
      return made_of(length, dtype, [&](int64_t i) { return reduced(op, dtype, c.ranks, begin + i); });
    };
    Tensor x = mine(c.me, count, dtype);
    all_reduce(x, {op, c.group});
    expect_same(x, expected(0, count), "all_reduce " + name);

    const int root = c.ranks.back();
    x = mine(c.me, count, dtype);
    reduce(x, root, {op, c.group});
    if (c.me == root) expect_same(x, expected(0, count), "reduce " + name);

    const auto size = static_cast<int64_t>(c.ranks.size());
    const Tensor input = mine(c.me, count * size, dtype);
    Tensor part = empty({count}, dtype);
    Tensors parts;
    for (int64_t r = 0; r < size; r++) parts.push_back(input.narrow(0, r * count, count));
    reduce_scatter(part, parts, {op, c.group});
    expect_same(part, expected(c.group->rank() * count, count), "reduce_scatter " + name);
    part.zero_();
    reduce_scatter_tensor(part, input, {op, c.group});
    expect_same(part, expected(c.group->rank() * count, count), "reduce_scatter_tensor " + name);
  }
}

void check_movements(const Case& c, DType dtype, int64_t count) {
  const auto size = static_cast<int64_t>(c.ranks.size());
  for (const int root : c.ranks) {
    Tensor x = mine(c.me, count, dtype);
    broadcast(x, root, c.group);
    expect_same(x, mine(root, count, dtype), "broadcast");
  }
  Tensors outputs;
  for (int64_t r = 0; r < size; r++) outputs.push_back(zeros({count}, dtype));
  all_gather(outputs, mine(c.me, count, dtype), c.group);
  for (int64_t r = 0; r < size; r++) expect_same(outputs[r], mine(c.ranks[r], count, dtype), "all_gather");

  Tensor whole = zeros({size, count}, dtype);
  all_gather_into_tensor(whole, mine(c.me, count, dtype), c.group);
  for (int64_t r = 0; r < size; r++) expect_same(whole[r], mine(c.ranks[r], count, dtype), "all_gather_into_tensor");

  const int root = c.ranks[0];
  for (Tensor& output : outputs) output.zero_();
  gather(mine(c.me, count, dtype), c.me == root ? outputs : Tensors(), root, c.group);
  if (c.me == root)
    for (int64_t r = 0; r < size; r++) expect_same(outputs[r], mine(c.ranks[r], count, dtype), "gather");

  Tensors inputs;
  for (int64_t r = 0; r < size; r++) inputs.push_back(mine(c.ranks[r] + 1, count, dtype));
  Tensor output = zeros({count}, dtype);
  scatter(output, c.me == root ? inputs : Tensors(), root, c.group);
  expect_same(output, mine(c.me + 1, count, dtype), "scatter");

  // From rank a to rank b goes what a * 10 + b would have.
  inputs.clear();
  for (int64_t r = 0; r < size; r++) {
    inputs.push_back(mine(c.me * 10 + c.ranks[r], count, dtype));
    outputs[r].zero_();
  }
  all_to_all(outputs, inputs, c.group);
  for (int64_t r = 0; r < size; r++) expect_same(outputs[r], mine(c.ranks[r] * 10 + c.me, count, dtype), "all_to_all");

  // Uneven: rank a gives rank b a + b rows.
  std::vector<int64_t> give, take;
  int64_t total = 0;
  for (int64_t r = 0; r < size; r++) {
    give.push_back(c.group->rank() + r);
    take.push_back(r + c.group->rank());
    total += give.back();
  }
  Tensor in = full({total, 2}, c.me + 1, TensorOptions(dtype)), out = zeros({total, 2}, dtype);
  all_to_all_single(out, in, take, give, c.group);
  int64_t begin = 0;
  for (int64_t r = 0; r < size; r++) {
    expect_same(out.narrow(0, begin, take[r]), full({take[r], 2}, c.ranks[r] + 1, TensorOptions(dtype)),
                "all_to_all_single");
    begin += take[r];
  }
}

void check_group(const Case& c) {
  for (const DType dtype : kAll)
    for (const int64_t count : {1, 7, 1000}) {
      check_reductions(c, dtype, count);
      check_movements(c, dtype, count);
    }
  // Long enough for rings, chains and several segments.
  for (const int64_t count : {int64_t{30001}, int64_t{700003}}) {
    check_reductions(c, kFloat32, count);
    check_movements(c, kFloat32, count);
  }
  check_reductions(c, kBFloat16, 30001);
  barrier(c.group);
}

class Collectives : public ::testing::TestWithParam<int> {};

TEST_P(Collectives, MatchTheReference) {
  const int world = GetParam();
  const auto outcome = run_ranks(world, [&](int rank) {
    init_process_group();
    std::vector<int> everyone, odd;
    for (int r = 0; r < world; r++) everyone.push_back(r);
    check_group({default_group(), everyone, rank});
    // A group that leaves rank 0 out, so that its ranks and the world's differ.
    if (world > 1) {
      const std::vector<int> others(everyone.begin() + 1, everyone.end());
      const Group group = new_group(others);
      EXPECT_EQ(get_rank(group), rank - 1);
      if (rank > 0) check_group({group, others, rank});
    }
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, ::testing::Values(1, 2, 3, 4));

TEST(CollectivesOnStrides, UseTheElementsOfTheViewOnly) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    Tensor base = full({6, 8}, rank + 1.0f);
    Tensor view = base.t().slice(0, 0, 8, 2);  // neither contiguous nor all of it
    ASSERT_FALSE(view.is_contiguous());
    all_reduce(view);
    EXPECT_TRUE(equal(view, full({4, 6}, 6.0f)));
    EXPECT_TRUE(equal(base.t().slice(0, 1, 8, 2), full({4, 6}, rank + 1.0f)));
    broadcast(view, 2);
    EXPECT_TRUE(equal(view, full({4, 6}, 6.0f)));

    Tensors columns;
    Tensor gathered = zeros({5, 3});
    for (int r = 0; r < 3; r++) columns.push_back(gathered.select(1, r));
    Tensor wide = full({5, 2}, rank + 1.0f);
    all_gather(columns, wide.select(1, 0));
    EXPECT_TRUE(equal(gathered, arange(1, 4).to(kFloat32).expand({5, 3})));

    gathered.zero_();
    all_to_all(columns, {wide.select(1, 1), wide.select(1, 1), wide.select(1, 1)});
    EXPECT_TRUE(equal(gathered, arange(1, 4).to(kFloat32).expand({5, 3})));

    // Several tensors at once, as if they were one.
    Tensor a = full({3}, rank + 1.0f), b = base.select(1, 1), c = zeros({0});
    all_reduce_coalesced({a, b, c}, ReduceOp::MAX);
    EXPECT_TRUE(equal(a, full({3}, 3.0f)));
    EXPECT_TRUE(equal(base.select(1, 1), full({6}, 3.0f)));
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(CollectivesOfNothing, AreDoneTogether) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    Tensor none = zeros({0, 4});
    all_reduce(none);
    broadcast(none, 1);
    reduce(none, 2);
    all_gather({none, none, none}, none);
    gather(none, rank == 0 ? Tensors{none, none, none} : Tensors());
    scatter(none, rank == 0 ? Tensors{none, none, none} : Tensors());
    reduce_scatter(none, {none, none, none});
    all_to_all({none, none, none}, {none, none, none});
    if (rank == 0) send(none, 1);
    if (rank == 1) recv(none, 0);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(CollectivesOnFloats, GiveTheSameBitsOnAllRanks) {
  const auto outcome = run_ranks(4, [](int rank) {
    init_process_group();
    manual_seed(100 + rank);
    for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16})
      for (const int64_t count : {3, 1000, 5000, 200001})
        for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT}) {
          Tensor x = randn({count}).to(dtype);
          Tensors before, after;
          for (int r = 0; r < 4; r++) before.push_back(empty({count}, dtype)), after.push_back(empty({count}, dtype));
          all_gather(before, x);
          all_reduce(x, op);
          all_gather(after, x);
          for (int r = 0; r < 4; r++)
            EXPECT_EQ(std::memcmp(after[r].data_ptr(), x.data_ptr(), x.nbytes()), 0) << name_of(dtype) << count;
          if (op != ReduceOp::SUM) continue;
          Tensor sum = zeros({count}, kFloat64);
          for (const Tensor& part : before) sum += part.to(kFloat64);
          const double tolerance = dtype == kFloat64 ? 1e-12 : dtype == kFloat32 ? 1e-5 : 0.1;
          EXPECT_TRUE(allclose(x.to(kFloat64), sum, tolerance, tolerance)) << name_of(dtype) << count;
        }
    // A nan anywhere reaches everyone, also through an order.
    for (const ReduceOp op : {ReduceOp::MIN, ReduceOp::MAX, ReduceOp::SUM}) {
      Tensor x = full({2}, static_cast<float>(rank));
      if (rank == 2) x[1] = std::numeric_limits<float>::quiet_NaN();
      all_reduce(x, op);
      EXPECT_FALSE(std::isnan(x[0].item<float>()));
      EXPECT_TRUE(std::isnan(x[1].item<float>()));
    }
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(CollectivesOfObjects, CarryBytesOfAnyLength) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    const std::string mine(static_cast<size_t>(rank * 1000), static_cast<char>('a' + rank));
    const auto all = all_gather_object(mine);
    ASSERT_EQ(all.size(), 3u);
    for (int r = 0; r < 3; r++)
      EXPECT_EQ(all[static_cast<size_t>(r)], std::string(static_cast<size_t>(r * 1000), static_cast<char>('a' + r)));
    std::vector<std::string> list(2);
    if (rank == 1) list = {std::string("zero\0byte", 9), ""};
    broadcast_object_list(list, 1);
    EXPECT_EQ(list, std::vector<std::string>({std::string("zero\0byte", 9), ""}));
    const auto gathered = gather_object(mine, 2);
    EXPECT_EQ(gathered.size(), rank == 2 ? 3u : 0u);
    const std::string part =
        scatter_object_list(rank == 0 ? std::vector<std::string>{"x", "", "longer"} : std::vector<std::string>(), 0);
    EXPECT_EQ(part, rank == 0 ? "x" : rank == 1 ? "" : "longer");
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(CollectivesOfParameters, WriteToLeavesAndCountAsAChange) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    Tensor leaf = full({3}, rank + 1.0f).requires_grad_();
    const uint32_t before = leaf._version();
    broadcast(leaf, 1);
    EXPECT_TRUE(equal(leaf.detach(), full({3}, 2.0f)));
    EXPECT_TRUE(leaf.is_leaf());
    EXPECT_EQ(leaf._version() > before, rank == 0);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
