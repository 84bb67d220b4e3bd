// einsum: every operand is brought to one order of dimensions (the output's first, then those to be summed, size 1
// where it has none); then pairs are multiplied, each by one batched matrix product.
#include "cresset/ops/einsum.h"

#include <algorithm>
#include <array>

#include "cresset/ops/diagonal.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

constexpr int kLetters = 52, kEllipsis = kLetters;
int label_of(char c) { return c >= 'a' ? c - 'a' + 26 : c - 'A'; }
char letter_of(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

using Labels = std::vector<int>;

// Reads letters and at most one ellipsis; `where` begins the messages.
Labels read_labels(std::string_view text, const std::string& where) {
  Labels labels;
  bool ellipsis = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      CRESSET_CHECK_AS(ValueError, !ellipsis && text.substr(i, 3) == "...", "einsum(): found '.' in ", where,
                       " that is not part of any ellipsis, or a second ellipsis");
      ellipsis = true;
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    CRESSET_CHECK_AS(ValueError, is_letter(c), "einsum(): invalid subscript given in ", where, ", found '",
                     std::string(1, c), "', subscripts must be in [a-zA-Z]");
    labels.push_back(label_of(c));
  }
  return labels;
}

struct Equation {
  std::vector<Labels> operands;
  Labels output;
  bool explicit_output = false;
};

Equation parse(std::string_view text, size_t count) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (bool more = true; more;) {
    const size_t comma = left.find(',');
    equation.operands.push_back(
        read_labels(left.substr(0, comma), "the subscripts of operand " + std::to_string(equation.operands.size())));
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
  }
  CRESSET_CHECK_AS(ValueError, equation.operands.size() == count,
                   "einsum(): ", equation.operands.size() > count ? "fewer" : "more",
                   " operands were provided than specified in the equation: found ", count, " (expected ",
                   equation.operands.size(), ")");
  if (arrow != std::string_view::npos) {
    equation.explicit_output = true;
    equation.output = read_labels(text.substr(arrow + 2), "the output");
  }
  return equation;
}

// The common order of dimensions.
struct Order {
  std::array<int, kLetters + 1> place;  // of each label, -1 if unused; the ellipsis starts at place[kEllipsis]
  int ellipsis_dims = 0;
  int outputs = 0, all = 0;
};

Order order_of(Equation& equation, TensorList tensors) {
  Order order;
  order.place.fill(-1);
  std::array<int, kLetters> times{};
  for (size_t i = 0; i < tensors.size(); i++) {
    const Labels& labels = equation.operands[i];
    const auto named = std::count_if(labels.begin(), labels.end(), [](int label) { return label != kEllipsis; });
    const bool ellipsis = named != static_cast<std::ptrdiff_t>(labels.size());
    const int64_t rank = tensors[i].dim();
    CRESSET_CHECK_AS(
        ShapeError, ellipsis ? named <= rank : named == rank, "einsum(): the number of subscripts in the equation (",
        named, ellipsis ? ") is more than the number of dimensions (" : ") does not match the number of dimensions (",
        rank, ") for operand ", i, ellipsis ? "" : " and no ellipsis was given");
    if (ellipsis) order.ellipsis_dims = std::max(order.ellipsis_dims, static_cast<int>(rank - named));
    for (int label : labels)
      if (label != kEllipsis) times[static_cast<size_t>(label)]++;
  }
  if (!equation.explicit_output) {
    if (order.ellipsis_dims > 0) equation.output.push_back(kEllipsis);
    for (int label = 0; label < kLetters; label++)
      if (times[static_cast<size_t>(label)] == 1) equation.output.push_back(label);
  }
  auto give_place = [&](int label) {
    order.place[static_cast<size_t>(label)] = order.all;
    order.all += label == kEllipsis ? order.ellipsis_dims : 1;
  };
  for (int label : equation.output) {
    if (label != kEllipsis) {
      CRESSET_CHECK_AS(ValueError, order.place[static_cast<size_t>(label)] < 0, "einsum(): output subscript ",
                       std::string(1, letter_of(label)), " appears more than once in the output");
      CRESSET_CHECK_AS(ValueError, times[static_cast<size_t>(label)] > 0, "einsum(): output subscript ",
                       std::string(1, letter_of(label)), " does not appear in the equation for any input operand");
    }
    give_place(label);
  }
  order.outputs = order.all;
  if (order.place[kEllipsis] < 0) give_place(kEllipsis);
  for (int label = 0; label < kLetters; label++)
    if (times[static_cast<size_t>(label)] > 0 && order.place[static_cast<size_t>(label)] < 0) give_place(label);
  return order;
}

// The last dimension brought to place `to`.
Tensor with_last_at(const Tensor& x, int64_t to) {
  Dims dims;
  for (int64_t i = 0; i + 1 < x.dim(); i++) dims.push_back(i);
  dims.insert(static_cast<int>(to), x.dim() - 1);
  return permute(x, dims);
}

Tensor arranged(Tensor x, const Labels& labels, const Order& order, size_t operand) {
  const auto named = std::count_if(labels.begin(), labels.end(), [](int label) { return label != kEllipsis; });
  const int missing = order.ellipsis_dims - static_cast<int>(x.dim() - named);
  std::array<int, kLetters> seen;
  seen.fill(-1);
  std::vector<int64_t> from(static_cast<size_t>(order.all), -1);
  int at = 0;
  for (int label : labels) {
    if (label == kEllipsis) {
      for (int k = 0; k < missing; k++) x = unsqueeze(x, at);
      const auto first = static_cast<size_t>(order.place[kEllipsis]), count = static_cast<size_t>(order.ellipsis_dims);
      for (size_t k = 0; k < count; k++) from[first + k] = at++;
    } else if (const int first = seen[static_cast<size_t>(label)]; first >= 0) {
      CRESSET_CHECK_AS(ShapeError, x.size(first) == x.size(at), "einsum(): subscript ",
                       std::string(1, letter_of(label)), " is repeated for operand ", operand,
                       " but the sizes don't match, ", x.size(at), " != ", x.size(first));
      x = with_last_at(diagonal(x, 0, first, at), first);
    } else {
      seen[static_cast<size_t>(label)] = at;
      from[static_cast<size_t>(order.place[static_cast<size_t>(label)])] = at++;
    }
  }
  for (int64_t& place : from)
    if (place < 0) {
      x = unsqueeze(x, -1);
      place = at++;
    }
  return permute(x, from);
}

// The product of two operands, summed over `summed` (kept as size 1): dimensions that both have and keep are the batch.
Tensor contracted(const Tensor& left, const Tensor& right, const std::vector<bool>& summed) {
  const auto is_summed = [&](int64_t i) { return summed[static_cast<size_t>(i)]; };
  const int64_t rank = left.dim();
  if (std::find(summed.begin(), summed.end(), true) == summed.end()) return mul(left, right);
  Dims batch, rows, sums, cols, sizes, order, back = Dims::filled(static_cast<int>(rank), 0);
  int64_t batch_size = 1, row_size = 1, sum_size = 1, col_size = 1;
  for (int64_t i = 0; i < rank; i++) {
    const bool in_left = left.size(i) != 1, in_right = right.size(i) != 1;
    if (is_summed(i)) {
      sums.push_back(i);
      sum_size *= left.size(i);
    } else if (in_left && in_right) {
      batch.push_back(i);
      batch_size *= left.size(i);
    } else if (in_left) {
      rows.push_back(i);
      row_size *= left.size(i);
    } else {
      cols.push_back(i);
      col_size *= right.size(i);
    }
  }
  auto joined = [](std::initializer_list<const Dims*> parts) {
    Dims all;
    for (const Dims* part : parts)
      for (int64_t dim : *part) all.push_back(dim);
    return all;
  };
  const Tensor a = reshape(permute(left, joined({&batch, &rows, &sums, &cols})), {batch_size, row_size, sum_size});
  const Tensor b = reshape(permute(right, joined({&batch, &sums, &cols, &rows})), {batch_size, sum_size, col_size});
  order = joined({&batch, &rows, &sums, &cols});
  for (int i = 0; i < order.rank(); i++) {
    const int64_t dim = order[i];
    sizes.push_back(is_summed(dim) ? 1 : left.size(dim) != 1 ? left.size(dim) : right.size(dim));
    back[static_cast<int>(dim)] = i;
  }
  return permute(reshape(bmm(a, b), sizes), back);
}

Tensor sum_kept(const Tensor& x, const Dims& dims) { return dims.empty() ? x : sum(x, dims, true); }

}  // namespace

static const Op& einsum_op =
    define_op("einsum", static_cast<Tensor (*)(std::string_view, TensorList, OptionalIntArrayRef)>(&einsum),
              "equation, tensors, path=std::nullopt",
              "Sums of products over dimensions named by letters: einsum(\"bij,bjk->bik\", {a, b}).",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor einsum(std::string_view text, TensorList tensors, OptionalIntArrayRef path) try {
  CRESSET_INTERCEPT(einsum, , Tensor, text, tensors, path);
  CRESSET_CHECK_AS(ValueError, !tensors.empty(), "einsum(): must provide at least one operand");
  CRESSET_CHECK_AS(ValueError, !path || path->size() == (tensors.size() == 1 ? 1 : (tensors.size() - 1) * 2),
                   "einsum(): expected contraction path given in path parameter to have size ",
                   tensors.size() == 1 ? 1 : (tensors.size() - 1) * 2, " but got ", path->size());
  Equation equation = parse(text, tensors.size());
  const Order order = order_of(equation, tensors);
  std::vector<Tensor> operands;
  std::vector<int64_t> sizes(static_cast<size_t>(order.all), 1);
  std::vector<int> holders(static_cast<size_t>(order.all));  // how many operands have more than one element there
  for (size_t i = 0; i < tensors.size(); i++) {
    if (i > 0) check_same_device("einsum", tensors[0], tensors[i]);
    operands.push_back(arranged(tensors[i], equation.operands[i], order, i));
    for (size_t dim = 0; dim < sizes.size(); dim++) {
      const int64_t size = operands.back().size(static_cast<int64_t>(dim));
      if (size == 1) continue;
      CRESSET_CHECK_AS(ShapeError, sizes[dim] == 1 || sizes[dim] == size,
                       "einsum(): operands do not broadcast: operand ", i, " of shape ", text_of(tensors[i].sizes()),
                       " has size ", size, " where others have ", sizes[dim]);
      sizes[dim] = size;
      holders[dim]++;
    }
  }
  if (operands.size() == 1) {
    Dims rest;
    for (int dim = order.outputs; dim < order.all; dim++) rest.push_back(dim);
    return rest.empty() ? operands[0] : sum(operands[0], rest);
  }
  for (size_t step = 0; operands.size() > 1; step++) {
    int64_t i = 0, j = 1;
    if (path) {
      i = std::min((*path)[2 * step], (*path)[2 * step + 1]);
      j = std::max((*path)[2 * step], (*path)[2 * step + 1]);
      CRESSET_CHECK_AS(ValueError, i >= 0 && j > i && j < static_cast<int64_t>(operands.size()),
                       "einsum(): expected different operand indices in [0, ", operands.size(), ") in path, found ", i,
                       " and ", j);
    }
    Tensor a = operands[static_cast<size_t>(i)], b = operands[static_cast<size_t>(j)];
    operands.erase(operands.begin() + j);
    operands.erase(operands.begin() + i);
    std::vector<bool> summed(static_cast<size_t>(order.all));
    Dims only_a, only_b;
    for (int dim = order.outputs; dim < order.all; dim++) {
      const auto d = static_cast<size_t>(dim);
      const bool in_a = a.size(dim) != 1, in_b = b.size(dim) != 1;
      if (in_a && in_b) {
        if (--holders[d] == 1) {
          summed[d] = true;
          holders[d] = 0;
        }
      } else if (holders[d] == 1 && (in_a || in_b)) {
        (in_a ? only_a : only_b).push_back(dim);
        holders[d] = 0;
      }
    }
    operands.push_back(contracted(sum_kept(a, only_a), sum_kept(b, only_b), summed));
  }
  if (order.all == order.outputs) return operands[0];
  Dims shape(operands[0].sizes().slice(0, static_cast<size_t>(order.outputs)));
  return reshape(operands[0], shape);
}
CRESSET_ERRORS_OF(einsum, , text, tensors, path)

}  // namespace cresset
