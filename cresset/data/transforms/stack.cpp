// Stacks examples.
#include "cresset/data/transforms/base.h"
#include "cresset/ops/all.h"

namespace cresset::data::transforms {

namespace {

// "sample 3 (index 17)" inside a loader, "sample 3" elsewhere.
std::string sample_text(size_t position) {
  const auto* batch = data::detail::BatchScope::current();
  const std::optional<size_t> index = batch ? batch->index_at(position) : std::nullopt;
  return index ? message_of("sample ", position, " (index ", *index, ")") : message_of("sample ", position);
}
std::string kind_of(const Tensor& row) {
  if (!row.defined()) return "undefined";
  return message_of("of shape ", text_of(row.sizes()), ", ", name_of(row.dtype()), " on ", row.device().str());
}

// The first whose shape is another, or else the first of another dtype or device: those may differ and be promoted.
size_t first_unlike(const std::vector<Tensor>& rows) {
  const auto shape = [](const Tensor& row) { return row.defined() ? text_of(row.sizes()) : "undefined"; };
  for (const bool by_shape : {true, false})
    for (size_t i = 1; i < rows.size(); i++)
      if (by_shape ? shape(rows[i]) != shape(rows[0]) : kind_of(rows[i]) != kind_of(rows[0])) return i;
  return 0;
}

void name_the_unlike(const std::vector<Tensor>& rows, const char* what, const Error& error) {
  if (const size_t i = first_unlike(rows); i != 0) {
    const data::detail::SampleScope sample(i);  // for what a loader says about the batch
    throw ShapeError(message_of("Stack: the ", what, " of ", sample_text(i), " is ", kind_of(rows[i]),
                                " (expected as that of ", sample_text(0), ", ", kind_of(rows[0]), "): ", error.what()));
  }
}

}  // namespace

Tensor detail::stacked(const std::vector<Tensor>& rows, const char* what) {
  const Tensor whole = data::detail::whole_of(rows);
  if (whole.defined()) return whole;
  try {
    return stack(rows);
  } catch (const Error& error) {
    name_the_unlike(rows, what, error);
    throw;
  }
}

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {detail::stacked(data, "data"), detail::stacked(targets, "target")};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return detail::stacked(data, "data");
}

}  // namespace cresset::data::transforms
