// How an op states its gradient, directly under its forward:
//
//   return differentiable("MulBackward0", into, y, inputs(a, b), saved(a, b),
//       [](const Tensor& g, Wants wants, const Tensor& a, const Tensor& b) { return grads(…, …); });
//
// It returns at once when nobody wants a gradient. Otherwise it makes one pooled node that holds the formula in place.
// Formulas capture only trivially destructible things; tensors go through saved(...). An op without a gradient says so
// with not_differentiable(...).
#pragma once

#include <array>
#include <tuple>

#include "cresset/autograd/node.h"
#include "cresset/autograd/saved.h"
#include "cresset/core/into.h"

namespace cresset::autograd {

// Which inputs' gradients are wanted: wants(0).
class Wants {
 public:
  explicit Wants(const Node& node) : node_(node) {}
  bool operator()(size_t i) const { return node_.wants(i); }
  size_t size() const { return node_.num_outputs(); }

 private:
  const Node& node_;
};

// The gradients of an op with several outputs; any may be undefined (nobody used that output).
class OutputGrads {
 public:
  OutputGrads(const Tensor* tensors, size_t count) : tensors_(tensors), count_(count) {}
  const Tensor& operator[](size_t i) const { return tensors_[i]; }
  size_t size() const { return count_; }

 private:
  const Tensor* tensors_;
  size_t count_;
};

template <size_t N>
struct InputRefs {
  std::array<const Tensor*, N> tensors;
  size_t size() const { return N; }
  const Tensor& operator[](size_t i) const { return *tensors[i]; }
};
struct InputList {
  TensorList tensors;
  size_t size() const { return tensors.size(); }
  const Tensor& operator[](size_t i) const { return tensors[i]; }
};
template <class... Ts>
requires(std::is_same_v<Ts, Tensor>&&...) InputRefs<sizeof...(Ts)> inputs(const Ts&... tensors) {
  return {{&tensors...}};
}
inline InputList inputs(TensorList tensors) { return {tensors}; }

// Marks a saved tensor as the op's own output.
struct Output {
  const Tensor& tensor;
};
inline Output output(const Tensor& y) { return {y}; }

// What a formula reads only for some inputs is kept only if they want a gradient: saved(kept_if(b.requires_grad(), a),
// …). A tensor that is kept without need may not be changed in place, and stays in memory.
CRESSET_API const Tensor& no_tensor();
inline const Tensor& kept_if(bool needed, const Tensor& tensor) { return needed ? tensor : no_tensor(); }

struct SavedRef {
  const Tensor* tensor;
  bool is_output;
  SavedRef(const Tensor& t) : tensor(&t), is_output(false) {}
  SavedRef(Output o) : tensor(&o.tensor), is_output(true) {}
};
template <size_t S>
struct SavedRefs {
  std::array<SavedRef, S> refs;
};
template <>
struct SavedRefs<0> {};
// A list whose length is known at run time; the formula gets it back as one TensorList.
inline constexpr size_t kSavedList = static_cast<size_t>(-1);
template <>
struct SavedRefs<kSavedList> {
  TensorList tensors;
};
inline SavedRefs<kSavedList> saved_list(TensorList tensors) { return {tensors}; }
template <class... Ts>
SavedRefs<sizeof...(Ts)> saved(const Ts&... tensors) {
  if constexpr (sizeof...(Ts) == 0)
    return {};
  else
    return {{SavedRef(tensors)...}};
}

template <class Inputs>
bool any_requires_grad(const Inputs& in) {
  if (!thread_state.grad_enabled) return false;
  for (size_t i = 0; i < in.size(); i++)
    if (in[i].defined() && in[i].requires_grad() && is_differentiable(in[i].dtype()) && !in[i].impl()->inference)
      return true;
  return false;
}

[[noreturn]] CRESSET_API void backward_second_time(const Node& node);
[[noreturn]] CRESSET_API void out_form_with_grad(const char* name);
// Hangs `node` onto y; in place, onto what y was before, through its base where it is a view.
CRESSET_API void set_history(const Into& into, const Tensor& y, Ref<Node> node, uint32_t output_nr = 0);
// Advances the version of a tensor that was written to.
inline void bump_version(const Tensor& tensor) {
  if (!tensor.impl()->inference) tensor.impl()->version().fetch_add(1, std::memory_order_relaxed);
}
// Refuses an in-place change that the graph cannot express; called before anything is written.
CRESSET_API void check_inplace(const char* op, const Tensor& self, bool others_require_grad);

// Edges of a formula node: in place for a fixed number, on the heap for a list.
template <class Inputs>
struct EdgeStorage {
  std::vector<Edge> edges;
  explicit EdgeStorage(const Inputs& in) : edges(in.size()) {}
  Edge* data() { return edges.data(); }
};
template <size_t N>
struct EdgeStorage<InputRefs<N>> {
  Edge edges[N];
  explicit EdgeStorage(const InputRefs<N>&) {}
  Edge* data() { return edges; }
};

template <class F, class Inputs, size_t S>
class FormulaNode final : public Pooled<FormulaNode<F, Inputs, S>> {
 public:
  static_assert(std::is_trivially_destructible_v<F>,
                "a gradient formula captures plain values only: tensors go through saved(...)");

  FormulaNode(const char* name, const Into& into, uint32_t outputs, const Inputs& in, const SavedRefs<S>& refs,
              const F& formula)
      : Pooled<FormulaNode>(name, nullptr, static_cast<uint32_t>(in.size()), outputs), storage_(in), formula_(formula) {
    this->edges_ = storage_.data();
    for (size_t i = 0; i < in.size(); i++)
      if (in[i].defined() && in[i].requires_grad()) this->edges_[i] = gradient_edge(in[i]);
    if constexpr (S > 0)
      for (size_t i = 0; i < S; i++) save(i, refs.refs[i], into, in);
  }

  Grads apply(Tensor* gradients, size_t count) override {
    if (S > 0 && this->released) backward_second_time(*this);
    return [&]<size_t... I>(std::index_sequence<I...>)->Grads {
      [[maybe_unused]] std::array<Tensor, S> held;
      [[maybe_unused]] std::array<const Tensor*, S> values{&saved_[I].read(*this, held[I])...};
      if constexpr (std::is_invocable_v<const F&, OutputGrads, Wants, decltype(*values[I])...>) {
        return formula_(OutputGrads(gradients, count), Wants(*this), *values[I]...);
      } else {
        if (!gradients[0].defined()) return Grads(this->num_edges_);
        return formula_(gradients[0], Wants(*this), *values[I]...);
      }
    }
    (std::make_index_sequence<S>());
  }

  void release_variables() override {
    this->released = true;
    for (auto& s : saved_) s.reset();
  }

 private:
  void save(size_t i, const SavedRef& ref, const Into& into, const Inputs& in) {
    const Tensor& kept = *ref.tensor;
    if (ref.is_output) {
      // One output is number 0, also where it is changed in place and still carries the number of its old node.
      saved_[i].keep_output(kept, this->num_results_ > 1 ? kept.impl()->output_nr : 0);
      return;
    }
    if (!kept.defined()) return;
    for (uint32_t k = 0; k < in.size(); k++)
      if (in[k].is_same(kept)) {
        saved_[i].keep_input(kept, k);
        // An input that the op itself has just overwritten: reading it would give a wrong gradient, so it is refused.
        if (CRESSET_UNLIKELY(!into.fresh() && kept.is_alias_of(*into.tensor))) saved_[i].mark_overwritten();
        return;
      }
    saved_[i].keep(kept);
    if (CRESSET_UNLIKELY(!into.fresh() && kept.is_alias_of(*into.tensor))) saved_[i].mark_overwritten();
  }

  EdgeStorage<Inputs> storage_;
  [[no_unique_address]] std::array<Saved, S> saved_;
  [[no_unique_address]] F formula_;
};

template <class F, class Inputs>
class FormulaNode<F, Inputs, kSavedList> final : public Pooled<FormulaNode<F, Inputs, kSavedList>> {
 public:
  static_assert(std::is_trivially_destructible_v<F>,
                "a gradient formula captures plain values only: tensors go through saved(...)");

  FormulaNode(const char* name, const Into&, uint32_t outputs, const Inputs& in, const SavedRefs<kSavedList>& refs,
              const F& formula)
      : Pooled<FormulaNode>(name, nullptr, static_cast<uint32_t>(in.size()), outputs), storage_(in), formula_(formula) {
    this->edges_ = storage_.data();
    for (size_t i = 0; i < in.size(); i++)
      if (in[i].defined() && in[i].requires_grad()) this->edges_[i] = gradient_edge(in[i]);
    saved_.resize(refs.tensors.size());
    for (size_t i = 0; i < saved_.size(); i++)
      if (refs.tensors[i].defined()) saved_[i].keep(refs.tensors[i]);
  }

  Grads apply(Tensor* gradients, size_t) override {
    if (this->released) backward_second_time(*this);
    if (!gradients[0].defined()) return Grads(this->num_edges_);
    std::vector<Tensor> values(saved_.size());
    for (size_t i = 0; i < saved_.size(); i++) {
      Tensor held;
      values[i] = saved_[i].read(*this, held);
    }
    return formula_(gradients[0], Wants(*this), TensorList(values));
  }

  void release_variables() override {
    this->released = true;
    saved_.clear();
  }

 private:
  EdgeStorage<Inputs> storage_;
  std::vector<Saved> saved_;
  F formula_;
};

// One output.
template <class Inputs, size_t S, class F>
Tensor differentiable(const char* name, const Into& into, Tensor y, const Inputs& in, const SavedRefs<S>& refs,
                      const F& formula) {
  if (!into.fresh()) bump_version(y);
  if (CRESSET_LIKELY(!any_requires_grad(in) || !is_differentiable(y.dtype()))) return y;
  if (into.out()) out_form_with_grad(name);
  set_history(into, y, make_node<FormulaNode<F, Inputs, S>>(name, into, 1, in, refs, formula));
  return y;
}
template <class Inputs, size_t S, class F>
Tensor differentiable(const char* name, Tensor y, const Inputs& in, const SavedRefs<S>& refs, const F& formula) {
  return differentiable(name, Into{}, std::move(y), in, refs, formula);
}

// Several outputs; those of integer type get no history.
template <class Inputs, size_t S, class F>
void differentiable_outputs(const char* name, const Into& into, std::initializer_list<const Tensor*> outputs,
                            const Inputs& in, const SavedRefs<S>& refs, const F& formula) {
  if (!into.fresh())
    for (const Tensor* y : outputs) bump_version(*y);
  if (CRESSET_LIKELY(!any_requires_grad(in))) return;
  if (into.out()) out_form_with_grad(name);
  uint32_t i = 0;
  for (const Tensor* y : outputs) (*y).impl()->output_nr = i++;
  auto node =
      make_node<FormulaNode<F, Inputs, S>>(name, into, static_cast<uint32_t>(outputs.size()), in, refs, formula);
  i = 0;
  for (const Tensor* y : outputs) {
    if (is_differentiable(y->dtype())) set_history(into, *y, node, i);
    i++;
  }
}

// Views. `y` aliases x's memory; the base is remembered so that in-place changes find their way.
CRESSET_API void set_view(const Tensor& y, const Tensor& x, ViewOrigin origin = ViewOrigin::ordinary);

template <class F>
Tensor differentiable_view(const char* name, Tensor y, const Tensor& x, const F& formula) {
  set_view(y, x);
  if (!thread_state.grad_enabled || !x.requires_grad() || x.impl()->inference) return y;
  auto node = make_node<FormulaNode<F, InputRefs<1>, 0>>(name, Into{}, 1, inputs(x), SavedRefs<0>{}, formula);
  y.impl()->node = std::move(node);
  y.impl()->requires_grad = true;
  return y;
}

// For ops without a gradient (comparisons, argmax, topk's indices): says so, and keeps the result out of the graph.
inline Tensor not_differentiable(const Into& into, Tensor y) {
  if (!into.fresh()) bump_version(y);
  return y;
}

}  // namespace cresset::autograd

namespace cresset {
using autograd::any_requires_grad;
using autograd::differentiable;
using autograd::differentiable_outputs;
using autograd::differentiable_view;
using autograd::Grads;
using autograd::grads;
using autograd::inputs;
using autograd::kept_if;
using autograd::not_differentiable;
using autograd::output;
using autograd::OutputGrads;
using autograd::saved;
using autograd::saved_list;
using autograd::Wants;
}  // namespace cresset
