// Both questions are one: can a sum of terms, each a weight taken so many times at most, reach a number? A layout's
// addresses are such sums, with its strides as weights. The search goes from the largest weight down; what the smaller
// ones can reach at all, and the multiples that they can reach, leave it few branches.
#include "cresset/core/memory_overlap.h"

#include <algorithm>
#include <numeric>

namespace cresset {
namespace {

using Wide = __int128;  // a layout may reach over more than half of 64 bits, and both sides are added

struct Term {
  int64_t weight, most;
};

class Sums {
 public:
  explicit Sums(std::vector<Term> terms) : terms_(merged(std::move(terms))), tails_(terms_.size() + 1) {
    for (size_t i = terms_.size(); i-- > 0;) {
      const auto [weight, most] = terms_[i];
      const Tail& below = tails_[i + 1];
      tails_[i].reach = below.reach + static_cast<Wide>(weight) * most;
      tails_[i].divisor = std::gcd(below.divisor, weight);
      tails_[i].complete = below.complete && (below.divisor == 0 || below.divisor == tails_[i].divisor) &&
                           weight <= below.reach + tails_[i].divisor;
    }
  }

  bool reach(Wide wanted) const { return reach(0, wanted); }

 private:
  // What terms i and later can make.
  struct Tail {
    Wide reach = 0;
    int64_t divisor = 0;
    bool complete = true;  // every multiple of the divisor up to `reach`
  };

  // The largest weight first, equal ones joined.
  static std::vector<Term> merged(std::vector<Term> terms) {
    std::erase_if(terms, [](const Term& term) { return term.weight == 0 || term.most == 0; });
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.weight > b.weight; });
    std::vector<Term> joined;
    for (const Term& term : terms) {
      if (!joined.empty() && joined.back().weight == term.weight)
        joined.back().most += term.most;
      else
        joined.push_back(term);
    }
    return joined;
  }

  bool reach(size_t from, Wide wanted) const {
    const Tail& tail = tails_[from];
    if (wanted < 0 || wanted > tail.reach) return false;
    if (wanted == 0) return true;
    if (wanted % tail.divisor != 0) return false;
    if (tail.complete) return true;
    const auto [weight, most] = terms_[from];
    const Wide beyond = wanted - tails_[from + 1].reach;  // what the smaller ones cannot make
    const Wide least = beyond > 0 ? (beyond + weight - 1) / weight : 0;
    for (Wide taken = std::min<Wide>(most, wanted / weight); taken >= least; taken--)
      if (reach(from + 1, wanted - taken * weight)) return true;
    return false;
  }

  std::vector<Term> terms_;
  std::vector<Tail> tails_;
};

// Sizes and absolute strides of the dimensions that have more than one element, the smallest stride first.
std::vector<Term> steps_of(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<Term> steps;
  for (size_t i = 0; i < sizes.size(); i++)
    if (sizes[i] > 1) steps.push_back({std::abs(strides[i]), sizes[i] - 1});
  std::sort(steps.begin(), steps.end(), [](const Term& a, const Term& b) { return a.weight < b.weight; });
  return steps;
}

struct Bytes {
  uintptr_t first, last;  // the last is the first after it
};
Bytes bytes_of(const TensorImpl& x, int64_t element) {
  const auto at = reinterpret_cast<uintptr_t>(x.data());
  int64_t down = 0, up = 0;
  for (int i = 0; i < x.sizes.rank(); i++) {
    const int64_t reach = (x.sizes[i] - 1) * x.strides[i] * element;
    (reach < 0 ? down : up) += reach;
  }
  return {at + static_cast<uintptr_t>(down), at + static_cast<uintptr_t>(up + element)};
}

// Dimensions of one element may have any stride.
bool same_elements(const TensorImpl& x, const TensorImpl& y) {
  int j = 0;
  const auto skip = [&] {
    while (j < y.sizes.rank() && y.sizes[j] == 1) j++;
  };
  for (int i = 0; i < x.sizes.rank(); i++) {
    if (x.sizes[i] == 1) continue;
    skip();
    if (j == y.sizes.rank() || x.sizes[i] != y.sizes[j] || x.strides[i] != y.strides[j]) return false;
    j++;
  }
  skip();
  return j == y.sizes.rank();
}

void add_terms(const TensorImpl& x, int64_t unit, std::vector<Term>& terms) {
  for (int i = 0; i < x.sizes.rank(); i++)
    if (x.sizes[i] > 1) terms.push_back({std::abs(x.strides[i]) * unit, x.sizes[i] - 1});
}

// Whether each stride leads beyond everything that the smaller ones reach, as in all views but as_strided's.
bool steps_over(IntArrayRef sizes, IntArrayRef strides) {
  if (sizes.size() > 64) return false;
  Wide reach = 0;
  for (uint64_t done = 0;;) {
    size_t next = sizes.size();
    for (size_t i = 0; i < sizes.size(); i++)
      if (sizes[i] > 1 && !(done >> i & 1) && (next == sizes.size() || std::abs(strides[i]) < std::abs(strides[next])))
        next = i;
    if (next == sizes.size()) return true;
    const int64_t stride = std::abs(strides[next]);
    if (stride <= reach) return false;
    reach += static_cast<Wide>(stride) * (sizes[next] - 1);
    done |= uint64_t{1} << next;
  }
}

}  // namespace

bool repeats_addresses(IntArrayRef sizes, IntArrayRef strides) {
  if (CRESSET_LIKELY(steps_over(sizes, strides))) return false;
  for (const int64_t size : sizes)
    if (size == 0) return false;
  const std::vector<Term> steps = steps_of(sizes, strides);
  Wide reach = 0;
  for (size_t k = 0; k < steps.size(); k++) {
    const auto [stride, most] = steps[k];
    if (stride == 0) return true;
    // Two indices that differ most in dimension k, by d >= 1, and by anything in the smaller ones, each of which goes
    // back by at most its reach and is counted from there.
    if (stride <= reach) {
      std::vector<Term> terms{{stride, most - 1}};
      for (size_t j = 0; j < k; j++) terms.push_back({steps[j].weight, 2 * steps[j].most});
      if (Sums(std::move(terms)).reach(reach - stride)) return true;
    }
    reach += static_cast<Wide>(stride) * most;
  }
  return false;
}

MemoryOverlap memory_overlap(const Tensor& a, const Tensor& b) {
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  if (&x == &y) return MemoryOverlap::full;
  if (x.numel == 0 || y.numel == 0 || x.device.is_meta() || x.device != y.device) return MemoryOverlap::none;
  const StorageImpl &under_x = *x.storage, &under_y = *y.storage;
  const auto *data_x = static_cast<const char*>(under_x.data), *data_y = static_cast<const char*>(under_y.data);
  if (CRESSET_LIKELY(data_x >= data_y + under_y.bytes || data_y >= data_x + under_x.bytes)) return MemoryOverlap::none;
  const auto width_x = static_cast<int64_t>(a.itemsize()), width_y = static_cast<int64_t>(b.itemsize());
  const Bytes of_x = bytes_of(x, width_x), of_y = bytes_of(y, width_y);
  if (of_x.first >= of_y.last || of_y.first >= of_x.last) return MemoryOverlap::none;
  if (width_x == width_y && x.data() == y.data() && same_elements(x, y)) return MemoryOverlap::full;
  if (a.is_non_overlapping_and_dense() && b.is_non_overlapping_and_dense()) return MemoryOverlap::partial;

  // Counted from y's last byte back and from x's first on: a sum of both layouts' steps that leads from x's first
  // byte to y's last one is a shared byte. Elements of one width that lie on one grid are counted whole.
  int64_t distance = static_cast<int64_t>(of_y.last - of_x.first);
  const bool whole = width_x == width_y && distance % width_x == 0;
  std::vector<Term> terms;
  add_terms(x, whole ? 1 : width_x, terms);
  add_terms(y, whole ? 1 : width_y, terms);
  if (whole) {
    distance = distance / width_x - 1;
  } else {
    terms.push_back({1, width_x + width_y - 2});
    distance -= 1;
  }
  return Sums(std::move(terms)).reach(distance) ? MemoryOverlap::partial : MemoryOverlap::none;
}

}  // namespace cresset
