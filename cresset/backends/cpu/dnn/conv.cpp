// Convolutions of float and bfloat16 by oneDNN, whose sums are float either way. Channels-last images are taken as they
// are; others are reordered into the blocked layout that oneDNN likes best and back, which is quicker than by way of
// nhwc (7 % for 3x3 windows, 50 % for 1x1) and far quicker than its kernels for nchw. Primitives take long to make, so
// the latest ones are kept, by shape and layout.
#include <dnnl.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cresset/backends/cpu/conv.h"
#include "cresset/backends/cpu/dnn/library_call.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

using dnnl::memory;
using Sizes = memory::dims;

const dnnl::engine& engine() {
  static const auto* one = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *one;
}

// A tensor as the user laid it out, and as the primitive wants it.
struct Side {
  memory::desc user, inside;
  dnnl::reorder reorder;  // towards the primitive, or from it for the result; empty if both are the same

  void connect(bool is_result) {
    if (user == inside) return;
    const auto& from = is_result ? inside : user;
    const auto& to = is_result ? user : inside;
    reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
  }
};

struct Plan {
  Side x, w, y;
  memory::desc bias, scratchpad;
  dnnl::primitive convolution;
};

using Key = std::vector<int64_t>;
struct HashKey {
  size_t operator()(const Key& key) const {
    size_t hash = key.size();
    for (int64_t n : key) hash = (hash ^ static_cast<size_t>(n)) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
  }
};

// The plans used last. Threads share them: each call brings its own scratchpad.
class Plans {
 public:
  static Plans& get() {
    static auto* plans = new Plans;
    return *plans;
  }
  template <class Make>
  std::shared_ptr<const Plan> find(const Key& key, const Make& make) {
    {
      std::lock_guard lock(mutex_);
      if (auto found = places_.find(key); found != places_.end()) {
        latest_.splice(latest_.begin(), latest_, found->second);
        return found->second->second;
      }
    }
    std::shared_ptr<const Plan> plan = make();
    std::lock_guard lock(mutex_);
    if (places_.contains(key)) return plan;  // another thread was quicker
    latest_.emplace_front(key, plan);
    places_[key] = latest_.begin();
    if (latest_.size() > kMost) {
      places_.erase(latest_.back().first);
      latest_.pop_back();
    }
    return plan;
  }

 private:
  static constexpr size_t kMost = 256;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const Plan>>> latest_;
  std::unordered_map<Key, decltype(latest_)::iterator, HashKey> places_;
};

constexpr int64_t kWinogradChannels = 32, kWinogradRows = 8;

Sizes list_of(IntArrayRef list) { return {list.begin(), list.end()}; }

bool is_channels_last(const Tensor& t) { return t.suggest_memory_format() != MemoryFormat::Contiguous; }

using Tag = memory::format_tag;
Tag channels_last_tag(int64_t dim) { return dim == 4 ? Tag::nhwc : Tag::ndhwc; }

memory::data_type type_of(const Tensor& t) {
  return t.dtype() == kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

memory::desc image_desc(const Tensor& t) {
  const auto type = type_of(t);
  const Tag plain = t.dim() == 3 ? Tag::ncw : t.dim() == 4 ? Tag::nchw : Tag::ncdhw;
  if (t.is_contiguous()) return {list_of(t.sizes()), type, plain};
  if (is_channels_last(t)) return {list_of(t.sizes()), type, channels_last_tag(t.dim())};
  return {list_of(t.sizes()), type, list_of(t.strides())};
}

// Weights have a dimension for the groups in front, if there are several.
memory::desc weight_desc(const Tensor& w, int64_t groups) {
  Sizes sizes = list_of(w.sizes()), strides = list_of(w.strides());
  if (groups > 1) {
    sizes[0] /= groups;
    sizes.insert(sizes.begin(), groups);
    strides.insert(strides.begin(), strides[0] * sizes[1]);
  }
  return {sizes, type_of(w), strides};
}
dnnl::primitive_attr with_own_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Winograd's algorithm does a third to a quarter of the multiplications; its transforms pay from some channels on.
// Results lie about 6 times as far from exact as the direct sum's, some 1e-6 of their size.
bool suits_winograd(const Convolution& c) {
  if (c.x.dtype() != kFloat || c.x.dim() != 4 || c.groups != 1 || is_channels_last(c.x) || is_channels_last(c.y))
    return false;
  for (size_t d = 0; d < 2; d++)
    if (c.stride[d] != 1 || c.dilation[d] != 1 || c.padding[d] > 1 || c.padding[d + 2] > 1) return false;
  return c.w.size(2) == 3 && c.w.size(3) == 3 && c.w.size(0) >= kWinogradChannels && c.w.size(1) >= kWinogradChannels &&
         c.y.size(2) >= kWinogradRows && c.y.size(3) >= kWinogradRows;
}

constexpr int64_t kPlainPositions = 128;

// A 1x1 window over bfloat16 is a product of matrices that oneDNN takes as they stand in nchw, about as quickly as in
// blocks, so that the images need not be reordered (15 % of forward and backward). Short rows of positions pay only for
// the weights' gradient, whose reordered result would cost as much as the product.
bool suits_plain(const Convolution& c) {
  if (c.x.dtype() != kBFloat16 || c.x.dim() != 4 || c.groups != 1 || c.w.size(2) != 1 || c.w.size(3) != 1) return false;
  if (!c.x.is_contiguous() || !c.y.is_contiguous()) return false;
  for (int64_t n : c.padding)
    if (n != 0) return false;
  if (c.part == ConvPart::weight) return true;
  return c.stride[0] == 1 && c.stride[1] == 1 && c.y.size(2) * c.y.size(3) >= kPlainPositions;
}

// Otherwise oneDNN has nothing quicker than plain loops for such images.
bool has_bfloat16_products() {
  static const bool has = (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & dnnl_cpu_isa_avx512_core_bf16) ==
                          static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
  return has;
}

Tag layout_for(const Convolution& c) {
  if (is_channels_last(c.x) || is_channels_last(c.y)) return channels_last_tag(c.x.dim());
  return suits_plain(c) && has_bfloat16_products() ? Tag::nchw : Tag::any;
}

std::shared_ptr<const Plan> make_plan(const Convolution& c, dnnl::algorithm algorithm) {
  auto plan = std::make_shared<Plan>();
  plan->x.user = image_desc(c.x);
  plan->y.user = image_desc(c.y);
  plan->w.user = weight_desc(c.w, c.groups);
  const Tag layout = layout_for(c);
  const memory::desc x(list_of(c.x.sizes()), type_of(c.x), layout);
  const memory::desc y(list_of(c.y.sizes()), type_of(c.y), layout);
  const memory::desc w(plan->w.user.dims(), type_of(c.w), Tag::any);
  if (c.part == ConvPart::forward && c.bias.defined()) plan->bias = {list_of(c.bias.sizes()), type_of(c.bias), Tag::x};
  const size_t rank = c.stride.size();
  const Sizes stride = list_of(c.stride), before = list_of(c.padding.slice(0, rank)),
              after = list_of(c.padding.slice(rank));
  Sizes dilation = list_of(c.dilation);
  for (int64_t& d : dilation) d--;
  const auto attr = with_own_scratchpad();

  using Forward = dnnl::convolution_forward;
  const Forward::primitive_desc forward(
      plan->bias.is_zero()
          ? Forward::desc(dnnl::prop_kind::forward_training, algorithm, x, w, y, stride, dilation, before, after)
          : Forward::desc(dnnl::prop_kind::forward_training, algorithm, x, w, plan->bias, y, stride, dilation, before,
                          after),
      attr, engine());
  auto take = [&](const auto& made, const memory::desc& x, const memory::desc& w, const memory::desc& y) {
    plan->x.inside = x;
    plan->w.inside = w;
    plan->y.inside = y;
    plan->scratchpad = made.scratchpad_desc();
  };
  if (c.part == ConvPart::forward) {
    take(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc());
    plan->convolution = Forward(forward);
  } else if (c.part == ConvPart::input) {
    using Backward = dnnl::convolution_backward_data;
    const Backward::primitive_desc made(Backward::desc(algorithm, x, w, y, stride, dilation, before, after), attr,
                                        engine(), forward);
    take(made, made.diff_src_desc(), made.weights_desc(), made.diff_dst_desc());
    plan->convolution = Backward(made);
  } else {
    using Backward = dnnl::convolution_backward_weights;
    const Backward::primitive_desc made(Backward::desc(algorithm, x, w, y, stride, dilation, before, after), attr,
                                        engine(), forward);
    take(made, made.src_desc(), made.diff_weights_desc(), made.diff_dst_desc());
    plan->convolution = Backward(made);
  }
  plan->x.connect(c.part == ConvPart::input);
  plan->w.connect(c.part == ConvPart::weight);
  plan->y.connect(c.part == ConvPart::forward);
  return plan;
}

std::shared_ptr<const Plan> best_plan(const Convolution& c) {
  if (suits_winograd(c)) {
    try {
      return make_plan(c, dnnl::algorithm::convolution_winograd);
    } catch (const dnnl::error& e) {
      if (e.status != dnnl_unimplemented) throw;
    }
  }
  return make_plan(c, dnnl::algorithm::convolution_direct);
}

// A tensor's memory and, where the layouts differ, the primitive's own beside it.
class Operand {
 public:
  Operand(const Side& side, const Tensor& t)
      : side_(side),
        own_(side.reorder ? static_cast<int64_t>(side.inside.get_size()) : 0),
        user_(side.user, engine(), t.impl()->data()),
        inside_(side.reorder ? memory(side.inside, engine(), own_.get()) : user_) {}
  const memory& inside() const { return inside_; }
  void read(dnnl::stream& stream) {
    if (side_.reorder) dnnl::reorder(side_.reorder).execute(stream, user_, inside_);
  }
  void write(dnnl::stream& stream) {
    if (side_.reorder) dnnl::reorder(side_.reorder).execute(stream, inside_, user_);
  }

 private:
  const Side& side_;
  Scratch<char> own_;
  memory user_, inside_;
};

void execute(const Plan& plan, const Convolution& c) {
  dnnl::stream stream(engine());
  Operand x(plan.x, c.x), w(plan.w, c.w), y(plan.y, c.y);
  const Scratch<char> scratchpad(static_cast<int64_t>(plan.scratchpad.get_size()));
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SCRATCHPAD, memory(plan.scratchpad, engine(), scratchpad.get())}};
  Operand& written = c.part == ConvPart::forward ? y : c.part == ConvPart::input ? x : w;
  for (Operand* operand : {&x, &w, &y})
    if (operand != &written) operand->read(stream);
  arguments.emplace(c.part == ConvPart::input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x.inside());
  arguments.emplace(c.part == ConvPart::weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w.inside());
  arguments.emplace(c.part == ConvPart::forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y.inside());
  if (!plan.bias.is_zero()) arguments.emplace(DNNL_ARG_BIAS, memory(plan.bias, engine(), c.bias.impl()->data()));
  plan.convolution.execute(stream, arguments);
  written.write(stream);
  stream.wait();
}

// oneDNN's layouts have no element twice.
bool repeats_elements(const Tensor& t) {
  for (int d = 0; d < t.dim(); d++)
    if (t.impl()->sizes[d] > 1 && t.impl()->strides[d] == 0) return true;
  return false;
}

Key key_of(const Convolution& c) {
  Key key{static_cast<int64_t>(c.part), static_cast<int64_t>(c.x.scalar_type()), c.groups, c.bias.defined(),
          in_parallel_region() ? 1 : get_num_threads()};
  for (const Tensor* t : {&c.x, &c.w, &c.y}) {
    key.insert(key.end(), t->sizes().begin(), t->sizes().end());
    key.insert(key.end(), t->strides().begin(), t->strides().end());
  }
  for (IntArrayRef list : {c.stride, c.padding, c.dilation}) key.insert(key.end(), list.begin(), list.end());
  return key;
}

bool convolution(const Convolution& c) {
  if (c.w.numel() == 0 || repeats_elements(c.x) || repeats_elements(c.w) || repeats_elements(c.y)) return false;
  if (c.bias.defined() && (c.part != ConvPart::forward || !c.bias.is_contiguous())) return false;
  const LibraryCall library;
  if (!library.allowed()) return false;
  try {
    execute(*Plans::get().find(key_of(c), [&] { return best_plan(c); }), c);
  } catch (const dnnl::error& e) {
    if (e.status == dnnl_unimplemented) return false;
    throw Error(message_of("convolution: oneDNN failed: ", e.what(), ", status ", static_cast<int>(e.status)));
  }
  return true;
}

[[maybe_unused]] const bool registered = (set_library_convolution(convolution), true);

}  // namespace
}  // namespace cresset::cpu
