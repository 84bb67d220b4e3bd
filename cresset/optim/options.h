// OptimizerOptions: the numbers of one parameter group. Each class lists its fields by PyTorch's names; from that list
// come state_dict, its loading, and the schedulers' access to momentum.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/ivalue.h"
#include "cresset/optim/serialized.h"

namespace cresset::optim {

using Pair = std::tuple<double, double>;
using Triple = std::tuple<double, double, double>;
using OptionalPair = std::tuple<std::optional<double>, double>;

struct OptionFields;  // optim/fields.h, as StateFields and SchedulerFields

class CRESSET_API OptimizerOptions : public Serialized {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual double get_lr() const;
  virtual void set_lr(const double lr);
  virtual OptionFields fields();
  // Refuses values out of range, and parameters that the optimizer cannot update.
  virtual void check(const std::vector<Tensor>& params) const { (void)params; }
};

// Of one class, with the same values in all that is saved.
CRESSET_API bool operator==(const OptimizerOptions& a, const OptimizerOptions& b);

// Derived gets clone(), and get_lr and set_lr where it has lr().
template <typename Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  // Not make_unique: a unique_ptr for each type of options would cost every program that includes this.
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::unique_ptr<OptimizerOptions>(new Derived(static_cast<const Derived&>(*this)));
  }
  double get_lr() const override {
    if constexpr (requires(const Derived& d) { d.lr(); })
      return static_cast<const Derived&>(*this).lr();
    else
      return OptimizerOptions::get_lr();
  }
  void set_lr(const double lr) override {
    if constexpr (requires(Derived & d) { d.lr(lr); })
      static_cast<Derived&>(*this).lr(lr);
    else
      OptimizerOptions::set_lr(lr);
  }
};

namespace detail {

// "SGD: Invalid learning rate: -1 (expected 0 or more)"
CRESSET_API void check_option(bool holds, const char* optimizer, const char* what, double found, const char* expected);
CRESSET_API void check_lr(const char* optimizer, double lr);
CRESSET_API void check_betas(const char* optimizer, const Pair& betas);
// The name of the class of an object: "SGDOptions".
CRESSET_API std::string class_name(const std::type_info& type);

}  // namespace detail
}  // namespace cresset::optim
