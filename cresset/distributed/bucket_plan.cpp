#include "cresset/distributed/bucket_plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "cresset/io/checksum.h"

namespace cresset::distributed {

std::vector<size_t> reverse_order(size_t count) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; i++) order[i] = count - 1 - i;
  return order;
}

BucketPlan plan_buckets(const std::vector<Tensor>& parameters, const std::vector<size_t>& order,
                        const BucketLimits& limits) {
  struct Open {
    std::vector<size_t> members;
    size_t bytes = 0;
    size_t closed_at = 0;  // the place in the order where its last member stands
  };
  std::map<std::pair<int, std::string>, Open> open;
  std::vector<Open> closed;
  bool first = true;
  for (size_t place = 0; place < order.size(); place++) {
    const Tensor& parameter = parameters[order[place]];
    Open& bucket = open[{static_cast<int>(parameter.scalar_type()), parameter.device().str()}];
    bucket.members.push_back(order[place]);
    bucket.bytes += parameter.nbytes();
    bucket.closed_at = place;
    if (bucket.bytes < (first ? limits.first_bytes : limits.bytes)) continue;
    closed.push_back(std::move(bucket));
    bucket = Open();
    first = false;
  }
  for (auto& [kind, bucket] : open)
    if (!bucket.members.empty()) closed.push_back(std::move(bucket));
  std::sort(closed.begin(), closed.end(), [](const Open& a, const Open& b) { return a.closed_at < b.closed_at; });
  BucketPlan plan;
  for (Open& bucket : closed) plan.buckets.push_back(std::move(bucket.members));
  return plan;
}

std::vector<size_t> BucketPlan::order() const {
  std::vector<size_t> all;
  for (const auto& bucket : buckets) all.insert(all.end(), bucket.begin(), bucket.end());
  return all;
}

uint64_t BucketPlan::digest() const {
  io::Digest digest;
  for (const auto& bucket : buckets) {
    const uint64_t count = bucket.size();
    digest.add(&count, sizeof count);
    for (uint64_t member : bucket) digest.add(&member, sizeof member);
  }
  return digest.value();
}

IValue BucketPlan::state(const std::vector<std::string>& names) const {
  IValue::List list;
  for (const auto& bucket : buckets) {
    IValue::List members;
    for (size_t index : bucket) members.items.emplace_back(names[index]);
    list.items.emplace_back(std::move(members));
  }
  IValue::Dict dict;
  dict["buckets"] = std::move(list);
  dict["rebuilt"] = rebuilt;
  return dict;
}

BucketPlan BucketPlan::from_state(const IValue& state, const std::vector<std::string>& names) {
  std::unordered_map<std::string, size_t> index;
  for (size_t i = 0; i < names.size(); i++) index.emplace(names[i], i);
  BucketPlan plan;
  std::vector<bool> seen(names.size(), false);
  for (const IValue& bucket : state.toDict().at("buckets").elements()) {
    plan.buckets.emplace_back();
    for (const IValue& name : bucket.elements()) {
      const auto found = index.find(name.toStringRef());
      CRESSET_CHECK_AS(ValueError, found != index.end(), "DistributedDataParallel: the bucket plan names ",
                       name.toStringRef(), ", which is no trainable parameter of this module");
      CRESSET_CHECK_AS(ValueError, !seen[found->second], "DistributedDataParallel: the bucket plan names ",
                       name.toStringRef(), " twice");
      seen[found->second] = true;
      plan.buckets.back().push_back(found->second);
    }
  }
  for (size_t i = 0; i < names.size(); i++)
    CRESSET_CHECK_AS(ValueError, seen[i], "DistributedDataParallel: the bucket plan lacks the parameter ", names[i]);
  plan.rebuilt = state.toDict().at("rebuilt").toBool();
  return plan;
}

}  // namespace cresset::distributed
