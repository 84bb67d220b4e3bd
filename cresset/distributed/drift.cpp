#include "cresset/distributed/drift.h"

#include <map>

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/collectives.h"
#include "cresset/distributed/throw_together.h"
#include "cresset/io/checksum.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {

void wait_until_all_know(ProcessGroup& group) {
  try {
    barrier(group.shared_from_this());
  } catch (const std::exception&) {  // somebody knew it earlier and is gone
  }
}

uint64_t digest_of(const Tensor& tensor) {
  NoGradGuard no_grad;
  const Tensor values = tensor.detach().contiguous();
  io::Digest digest;
  if (values.numel() > 0) digest.add(values.data_ptr(), values.nbytes());
  return digest.value();
}

std::vector<size_t> odd_ones_out(const std::vector<uint64_t>& values, const std::vector<bool>& counts) {
  std::map<uint64_t, size_t> how_many;
  for (size_t i = 0; i < values.size(); i++)
    if (counts[i]) how_many[values[i]]++;
  std::vector<size_t> odd;
  if (how_many.size() < 2) return odd;
  size_t most = values.size();
  for (size_t i = 0; i < values.size(); i++)
    if (counts[i] && (most == values.size() || how_many[values[i]] > how_many[values[most]])) most = i;
  for (size_t i = 0; i < values.size(); i++)
    if (counts[i] && values[i] != values[most]) odd.push_back(i);
  return odd;
}

namespace {

// Row r is what rank r gave.
std::vector<std::vector<uint64_t>> gather(const Group& group, const std::vector<uint64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor mine = empty({count}, TensorOptions(kLong));
  std::copy(values.begin(), values.end(), mine.data_ptr<int64_t>());
  std::vector<Tensor> all;
  all.reserve(static_cast<size_t>(group->size()));
  for (int r = 0; r < group->size(); r++) all.push_back(empty({count}, TensorOptions(kLong)));
  const CalledAs called("the digest of the parameters");
  all_gather(all, mine, group);
  std::vector<std::vector<uint64_t>> rows;
  rows.reserve(all.size());
  for (const Tensor& row : all) {
    const int64_t* first = row.data_ptr<int64_t>();
    rows.emplace_back(first, first + count);
  }
  return rows;
}

std::vector<uint64_t> column(const std::vector<std::vector<uint64_t>>& rows, size_t at) {
  std::vector<uint64_t> values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(row[at]);
  return values;
}

std::string ranks_text(const Group& group, const std::vector<size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); i++)
    text += (i == 0                  ? ""
             : i + 1 == ranks.size() ? " and "
                                     : ", ") +
            std::to_string(group->global_rank(static_cast<int>(ranks[i])));
  return text;
}

}  // namespace

void check_drift(const DriftCheck& check) {
  std::vector<uint64_t> digests;
  digests.reserve(check.tensors.size());
  io::Digest whole;
  for (const Tensor& tensor : check.tensors) digests.push_back(digest_of(tensor));
  whole.add(digests.data(), digests.size() * sizeof(uint64_t));
  const auto rows = gather(check.group, {check.takes_part, digests.size(), whole.value(), check.agreement});
  std::vector<bool> counts;
  counts.reserve(rows.size());
  for (const auto& row : rows) counts.push_back(row[0] != 0);
  const std::vector<bool> all(rows.size(), true);

  if (const auto odd = odd_ones_out(column(rows, 1), all); !odd.empty())
    throw_together(*check.group,
                   message_of("check_parameters: ", ranks_text(check.group, odd), " came with ", rows[odd[0]][1],
                              " tensors, the others with another number (expected as many on "
                              "every rank)"));
  if (const auto odd = odd_ones_out(column(rows, 3), counts); !odd.empty())
    throw_together(*check.group, message_of("DistributedDataParallel: ", check.agreement_on, " of ",
                                            ranks_text(check.group, odd), " differs from the others'"));
  if (odd_ones_out(column(rows, 2), counts).empty()) return;

  const auto each = gather(check.group, digests);
  size_t differing = 0, first = digests.size();
  for (size_t i = 0; i < digests.size(); i++) {
    if (odd_ones_out(column(each, i), counts).empty()) continue;
    differing++;
    if (first == digests.size()) first = i;
  }
  const auto odd = odd_ones_out(column(each, first), counts);
  std::string more = differing > 1 ? message_of(" (and ", differing - 1, " more of ", digests.size(), " tensors)") : "";
  throw_together(*check.group, message_of("parameters drifted: ", check.names[first], " differs on ",
                                          ranks_text(check.group, odd), check.when, more,
                                          ". Something changed them on some ranks only: a step that others did not "
                                          "take, another learning rate, a file that only "
                                          "one rank loaded, random numbers, or gradients that were not reduced"));
}

void check_parameters(const nn::Module& module, const Group& group) {
  const auto parameters = module.named_parameters();
  check_drift({parameters.keys(), parameters.values(), group ? group : default_group(), ""});
}

void check_parameters(const std::vector<Tensor>& parameters, const Group& group) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); i++) names.push_back(message_of("parameter ", i));
  check_drift({names, parameters, group ? group : default_group(), ""});
}

}  // namespace cresset::distributed
