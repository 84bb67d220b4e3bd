// Which ops autocast moves, and how. The lists follow PyTorch's.
#include "cresset/amp/autocast.h"

#include <string_view>
#include <unordered_map>

#include "cresset/core/modes.h"
#include "cresset/ops/copy.h"

namespace cresset::amp {
namespace {

enum class Policy : uint8_t { as_it_comes, lower, float32, widest };

Policy policy_of(const Op& op) {
  static const auto* policies = [] {
    auto* map = new std::unordered_map<std::string_view, Policy>;
    for (const char* name : {"linear",
                             "mm",
                             "bmm",
                             "matmul",
                             "mv",
                             "addmm",
                             "addmv",
                             "addbmm",
                             "baddbmm",
                             "einsum",
                             "conv1d",
                             "conv2d",
                             "conv3d",
                             "conv_transpose1d",
                             "conv_transpose2d",
                             "conv_transpose3d",
                             "scaled_dot_product_attention",
                             "rnn_tanh_cell",
                             "rnn_relu_cell",
                             "lstm_cell",
                             "gru_cell"})
      map->emplace(name, Policy::lower);
    for (const char* name : {"exp",
                             "acos",
                             "asin",
                             "cosh",
                             "erfinv",
                             "sinh",
                             "tan",
                             "expm1",
                             "log",
                             "log2",
                             "log10",
                             "log1p",
                             "pow",
                             "rsqrt",
                             "reciprocal",
                             "softmax",
                             "log_softmax",
                             "softplus",
                             "sum",
                             "mean",
                             "prod",
                             "cumsum",
                             "cumprod",
                             "norm",
                             "var",
                             "std",
                             "logsumexp",
                             "layer_norm",
                             "group_norm",
                             "cross_entropy",
                             "nll_loss",
                             "mse_loss",
                             "l1_loss",
                             "smooth_l1_loss",
                             "huber_loss",
                             "kl_div",
                             "dist",
                             "cdist",
                             "pdist",
                             "cosine_similarity",
                             "rms_norm",
                             "binary_cross_entropy",
                             "binary_cross_entropy_with_logits",
                             "nll_loss2d",
                             "nll_loss_nd",
                             "poisson_nll_loss",
                             "gaussian_nll_loss",
                             "hinge_embedding_loss",
                             "cosine_embedding_loss",
                             "margin_ranking_loss",
                             "multi_margin_loss",
                             "multilabel_margin_loss",
                             "multilabel_soft_margin_loss",
                             "soft_margin_loss",
                             "triplet_margin_loss",
                             "ctc_loss",
                             "stft",
                             "fft_fft",
                             "fft_fft2",
                             "fft_fftn",
                             "fft_ifft",
                             "fft_ifft2",
                             "fft_ifftn",
                             "fft_rfft",
                             "fft_rfft2",
                             "fft_rfftn",
                             "fft_irfft",
                             "fft_irfft2",
                             "fft_irfftn",
                             "fft_hfft",
                             "fft_hfft2",
                             "fft_hfftn",
                             "fft_ihfft",
                             "fft_ihfft2",
                             "fft_ihfftn"})
      map->emplace(name, Policy::float32);
    for (const char* name : {"cat", "stack", "index_put", "scatter_add", "dot", "cross", "bilinear", "grid_sampler",
                             "addcmul", "addcdiv", "atan2"})
      map->emplace(name, Policy::widest);
    return map;
  }();
  if (op.functional) return Policy::as_it_comes;  // in-place and out forms: the user has chosen the dtype
  auto found = policies->find(op.name);
  return found == policies->end() ? Policy::as_it_comes : found->second;
}

// float64 stays: who asks for it wants it.
bool is_eligible(const Tensor& x) {
  return x.defined() && (x.dtype() == kFloat || x.dtype() == kBFloat16 || x.dtype() == kHalf);
}

template <class F>
void each_tensor(Values& arguments, const F& f) {
  for (Value& value : arguments) {
    if (auto* tensor = std::get_if<Tensor>(&value)) f(*tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (Tensor& tensor : *list) f(tensor);
  }
}

DType widest_of(Values& arguments, DType lower) {
  DType widest = lower;
  each_tensor(arguments, [&](const Tensor& x) {
    if (is_eligible(x)) widest = promote_types(widest, x.dtype());
  });
  return widest;
}

}  // namespace

class Autocast::Mode : public modes::AboveMode {
 public:
  Mode(DType dtype, bool enabled) : dtype_(dtype), enabled_(enabled), outer_(innermost), scope_(*this) {
    innermost = this;
  }
  ~Mode() override { innermost = outer_; }

  static constinit thread_local Mode* innermost;
  const DType dtype_;
  const bool enabled_;

 private:
  Value call(const Op& op, Values& arguments) override;
  Tensor lowered(const Tensor& x);
  void cast(Values& arguments, DType to);

  // The lower copy of a parameter, made once however often it is used inside the guard.
  struct Copy {
    Tensor of, lower;
    uint32_t version;
  };
  Mode* outer_;
  std::unordered_map<TensorImpl*, Copy> copies_;
  modes::AboveScope scope_;
};
constinit thread_local Autocast::Mode* Autocast::Mode::innermost = nullptr;

Autocast::Autocast(DType dtype, bool enabled) {
  CRESSET_CHECK_AS(TypeError, dtype == kBFloat16 || dtype == kHalf, "Autocast: found dtype ", name_of(dtype),
                   " (expected bfloat16 or float16)");
  mode_ = std::make_unique<Mode>(dtype, enabled);
}
Autocast::~Autocast() = default;

bool Autocast::is_enabled() { return Mode::innermost && Mode::innermost->enabled_; }
DType Autocast::dtype() { return Mode::innermost ? Mode::innermost->dtype_ : kBFloat16; }

Value Autocast::Mode::call(const Op& op, Values& arguments) {
  // An outer guard leaves everything to the inner one, and a disabled guard hides it. What an op calls is looked at in
  // turn: only the parts of a composed op may be on the lists.
  Policy policy = innermost == this && enabled_ ? policy_of(op) : Policy::as_it_comes;
  if (policy == Policy::as_it_comes) return modes::pass(op, arguments);
  cast(arguments, policy == Policy::lower ? dtype_ : policy == Policy::float32 ? kFloat : widest_of(arguments, dtype_));
  return op.call(arguments);
}

void Autocast::Mode::cast(Values& arguments, DType to) {
  each_tensor(arguments, [&](Tensor& x) {
    if (!is_eligible(x) || x.dtype() == to) return;
    x = to == dtype_ ? lowered(x) : x.to(to);
  });
}

Tensor Autocast::Mode::lowered(const Tensor& x) {
  bool parameter = thread_state.grad_enabled && x.requires_grad() && x.is_leaf() && !x.is_view();
  if (!parameter) return x.to(dtype_);
  Copy& copy = copies_[x.impl()];
  if (!copy.lower.defined() || copy.version != x._version()) copy = {x, x.to(dtype_), x._version()};
  return copy.lower;
}

}  // namespace cresset::amp
