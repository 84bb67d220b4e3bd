#include "cresset/optim/schedulers/lambda_lr.h"

namespace cresset::optim {
namespace {

std::vector<LRFunction> for_each_group(const Optimizer& optimizer, const char* scheduler,
                                       std::vector<LRFunction> functions) {
  const size_t groups = optimizer.param_groups().size();
  CRESSET_CHECK_AS(ValueError, functions.size() == groups, scheduler, ": Expected ", groups,
                   " lr_lambdas, one for each parameter group, but got ", functions.size());
  return functions;
}

IValue with_functions(IValue dict, size_t count) {
  dict.toDict()["lr_lambdas"] = IValue::List{std::vector<IValue>(count)};
  return dict;
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, LRFunction lr_lambda, int64_t last_epoch)
    : LambdaLR(optimizer, std::vector<LRFunction>(optimizer.param_groups().size(), lr_lambda), last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<LRFunction> lr_lambdas, int64_t last_epoch)
    : LRScheduler(optimizer), lr_lambdas_(for_each_group(optimizer, "LambdaLR", std::move(lr_lambdas))) {
  begin(last_epoch);
}
IValue LambdaLR::state_dict() const { return with_functions(LRScheduler::state_dict(), lr_lambdas_.size()); }
std::vector<double> LambdaLR::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  for (size_t g = 0; g < lrs.size(); g++) lrs[g] *= lr_lambdas_[g](last_epoch_);
  return lrs;
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, LRFunction lr_lambda, int64_t last_epoch)
    : MultiplicativeLR(optimizer, std::vector<LRFunction>(optimizer.param_groups().size(), lr_lambda), last_epoch) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<LRFunction> lr_lambdas, int64_t last_epoch)
    : LRScheduler(optimizer), lr_lambdas_(for_each_group(optimizer, "MultiplicativeLR", std::move(lr_lambdas))) {
  begin(last_epoch);
}
IValue MultiplicativeLR::state_dict() const { return with_functions(LRScheduler::state_dict(), lr_lambdas_.size()); }
std::vector<double> MultiplicativeLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  if (last_epoch_ > 0)
    for (size_t g = 0; g < lrs.size(); g++) lrs[g] *= lr_lambdas_[g](last_epoch_);
  return lrs;
}

}  // namespace cresset::optim
