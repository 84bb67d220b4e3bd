#include "cresset/optim/param_state.h"

#include "cresset/optim/fields.h"

#include <algorithm>

namespace cresset::optim {

StateFields OptimizerParamState::fields() {
  StateFields none;
  none.listed = false;
  return none;
}
std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  throw NotImplementedError(
      "OptimizerParamState::clone: this class does not override it (derive from OptimizerCloneableParamState)");
}

size_t ParamStates::size() const {
  return static_cast<size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.second != nullptr; }));
}

void ParamStates::clear() {
  for (Entry& entry : entries_) entry.second.reset();
}

namespace {
template <class Entries>
auto place_of(Entries& entries, const void* impl) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == impl; });
}
}  // namespace

std::unique_ptr<OptimizerParamState>& ParamStates::operator[](const void* impl) {
  auto place = place_of(entries_, impl);
  if (place == entries_.end()) place = entries_.insert(place, Entry(const_cast<void*>(impl), nullptr));
  return place->second;
}

std::unique_ptr<OptimizerParamState>& ParamStates::at(const void* impl) {
  return const_cast<std::unique_ptr<OptimizerParamState>&>(std::as_const(*this).at(impl));
}
const std::unique_ptr<OptimizerParamState>& ParamStates::at(const void* impl) const {
  auto place = place_of(entries_, impl);
  CRESSET_CHECK_AS(IndexError, place != entries_.end() && place->second,
                   "Optimizer::state: found no state of this tensor (expected a parameter after its first step)");
  return place->second;
}

std::pair<ParamStates::iterator, bool> ParamStates::emplace(const void* impl,
                                                            std::unique_ptr<OptimizerParamState> state) {
  std::unique_ptr<OptimizerParamState>& held = (*this)[impl];
  const bool is_new = !held;
  if (is_new) held = std::move(state);
  return {find(impl), is_new};
}

size_t ParamStates::erase(const void* impl) {
  auto place = place_of(entries_, impl);
  if (place == entries_.end() || !place->second) return 0;
  place->second.reset();  // the entry stays: others keep their places in the order of the parameters
  return 1;
}

ParamStates::iterator ParamStates::find(const void* impl) {
  auto place = place_of(entries_, impl);
  if (place != entries_.end() && !place->second) place = entries_.end();
  return {place, entries_.end()};
}
ParamStates::const_iterator ParamStates::find(const void* impl) const {
  auto place = place_of(entries_, impl);
  if (place != entries_.end() && !place->second) place = entries_.end();
  return {place, entries_.end()};
}

// The groups' parameters were changed from outside, or this is the first step.
void ParamStates::move_to(size_t position, void* impl) {
  (*this)[impl];
  auto place = place_of(entries_, impl);
  while (static_cast<size_t>(place - entries_.begin()) < position) {
    entries_.insert(entries_.begin(), Entry(nullptr, nullptr));
    place = place_of(entries_, impl);
  }
  std::rotate(entries_.begin() + static_cast<std::ptrdiff_t>(position), place, place + 1);
}

}  // namespace cresset::optim
