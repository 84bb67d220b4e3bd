// Optimizer::state_dict and load_state_dict: PyTorch's layout. Loading first reads everything into copies and gathers
// what does not fit, so that a dict of another model or optimizer changes nothing.
#include <unordered_map>

#include "cresset/io/serialize.h"
#include "cresset/ops/all.h"
#include "cresset/optim/fields.h"
#include "cresset/optim/old_archives.h"
#include "cresset/optim/optimizer.h"

namespace cresset::optim {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang 14 wants it said

IValue::Tuple tuple_of(std::initializer_list<IValue> items) { return {items}; }

IValue value_in(const OptionField& field) {
  return std::visit(
      Overloaded{
          [](const IValue& constant) { return constant; },
          [](Pair* p) {
            return IValue(tuple_of({std::get<0>(*p), std::get<1>(*p)}));
          },
          [](Triple* p) {
            return IValue(tuple_of({std::get<0>(*p), std::get<1>(*p), std::get<2>(*p)}));
          },
          [](OptionalPair* p) {
            return IValue(tuple_of({std::get<0>(*p) ? IValue(*std::get<0>(*p)) : IValue(), std::get<1>(*p)}));
          },
          [](std::optional<int64_t>* p) { return *p ? IValue(**p) : IValue(); },
          [](std::optional<std::string>* p) { return *p ? IValue(**p) : IValue(); },
          [](auto* p) { return IValue(*p); },
      },
      field.value);
}

// PyTorch keeps numbers as numbers or as tensors of one element, by version and settings.
double number_in(const IValue& value) {
  if (value.isTensor()) return value.toTensor().item<double>();
  if (value.isBool()) return value.toBool() ? 1 : 0;
  return value.toDouble();
}

template <size_t n>
std::vector<IValue> elements_of(const IValue& value) {
  std::vector<IValue> items = value.elements();
  CRESSET_CHECK_AS(ValueError, items.size() == n, "found ", items.size(), " numbers (expected ", n, ")");
  return items;
}

void read(const OptionField& field, const IValue& value) {
  std::visit(Overloaded{
                 [](const IValue&) {},
                 [&](double* p) { *p = number_in(value); },
                 [&](bool* p) { *p = number_in(value) != 0; },
                 [&](int64_t* p) { *p = static_cast<int64_t>(number_in(value)); },
                 [&](Pair* p) {
                   auto items = elements_of<2>(value);
                   *p = {number_in(items[0]), number_in(items[1])};
                 },
                 [&](Triple* p) {
                   auto items = elements_of<3>(value);
                   *p = {number_in(items[0]), number_in(items[1]), number_in(items[2])};
                 },
                 [&](OptionalPair* p) {
                   auto items = elements_of<2>(value);
                   std::get<0>(*p) = items[0].isNone() ? std::nullopt : std::optional(number_in(items[0]));
                   std::get<1>(*p) = number_in(items[1]);
                 },
                 [&](std::optional<int64_t>* p) {
                   *p = value.isNone() ? std::nullopt : std::optional(static_cast<int64_t>(number_in(value)));
                 },
                 [&](std::optional<std::string>* p) {
                   *p = value.isNone() ? std::nullopt : std::optional(value.toStringRef());
                 },
             },
             field.value);
}

bool is_absent(const OptionField&) { return false; }
bool is_absent(const StateField& field) {
  if (auto* tensor = std::get_if<Tensor*>(&field.value)) return !(*tensor)->defined();
  return std::holds_alternative<std::nullptr_t>(field.value);
}

IValue value_in(const StateField& field) {
  const bool as_tensor = field.form == StateField::Form::scalar_tensor;
  auto number = [&](auto value) { return as_tensor ? IValue(full({}, value, kFloat)) : IValue(value); };
  return std::visit(Overloaded{
                        [](std::nullptr_t) { return IValue(); },
                        [](Tensor* p) { return IValue(*p); },
                        [](std::deque<Tensor>* p) { return IValue(std::vector<Tensor>(p->begin(), p->end())); },
                        [&](auto* p) { return number(*p); },
                    },
                    field.value);
}

Tensor copied(const Tensor& value, const Tensor& param, bool own_shape) {
  NoGradGuard no_grad;
  if (own_shape) return value.to(param.device(), param.dtype(), false, true);
  CRESSET_CHECK_AS(ShapeError, value.sizes() == param.sizes(), "found shape ", text_of(value.sizes()),
                   " (expected the parameter's, ", text_of(param.sizes()), ")");
  Tensor copy = empty_like(param);
  copy.copy_(value);
  return copy;
}

void read(const StateField& field, const IValue& value, const Tensor& param) {
  std::visit(Overloaded{
                 [](std::nullptr_t) {},
                 [&](Tensor* p) {
                   *p = value.isTensor() ? copied(value.toTensor(), param, field.own_shape)
                                         : full({}, number_in(value), param.options());
                 },
                 [&](std::deque<Tensor>* p) {
                   for (const IValue& item : value.elements()) p->push_back(copied(item.toTensor(), param, true));
                 },
                 [&](int64_t* p) { *p = static_cast<int64_t>(number_in(value)); },
                 [&](double* p) { *p = number_in(value); },
             },
             field.value);
}

// Of options or a state. Classes that list no fields write themselves.
template <class T>
IValue::Dict written(T& object) {
  const auto fields = object.fields();
  if (!fields.listed) {
    serialize::OutputArchive archive;
    std::as_const(object).serialize(archive);
    return archive.values();
  }
  IValue::Dict dict;
  for (const auto& field : fields)
    if (!is_absent(field)) dict[field.name] = value_in(field);
  return dict;
}

bool same_values(const IValue& a, const IValue& b);
bool same_tensors(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.dtype() == b.dtype() && a.device() == b.device() && a.sizes() == b.sizes() && equal(a, b);
}
bool same_items(const IValue::Dict& a, const IValue::Dict& b) {
  return a.items.size() == b.items.size() && std::all_of(a.items.begin(), a.items.end(), [&](const auto& item) {
           const IValue* other = item.first.isString() ? b.find(item.first.toStringRef()) : nullptr;
           return other && same_values(item.second, *other);
         });
}
bool same_values(const IValue& a, const IValue& b) {
  if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
  if (a.isTensor() || b.isTensor()) return a.isTensor() && b.isTensor() && same_tensors(a.toTensor(), b.toTensor());
  if (a.isString() || b.isString()) return a.isString() && b.isString() && a.toStringRef() == b.toStringRef();
  if (a.isBool() || b.isBool()) return a.isBool() && b.isBool() && a.toBool() == b.toBool();
  if (a.isNumber() || b.isNumber()) return a.isNumber() && b.isNumber() && a.toDouble() == b.toDouble();
  if (a.isDict() || b.isDict()) return a.isDict() && b.isDict() && same_items(a.toDict(), b.toDict());
  const std::vector<IValue> left = a.elements(), right = b.elements();
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), same_values);
}
// Fields are listed by pointers that may be written through; here they are only read.
template <class T>
bool same_fields(const T& a, const T& b) {
  return typeid(a) == typeid(b) && same_items(written(const_cast<T&>(a)), written(const_cast<T&>(b)));
}

std::string keys_of(const IValue::Dict& dict) {
  std::string text;
  for (const auto& [key, value] : dict)
    if (key.isString()) text += (text.empty() ? "'" : ", '") + key.toStringRef() + "'";
  return text;
}

struct Reader {
  std::vector<std::string> problems;

  template <class... Parts>
  void problem(const Parts&... parts) {
    problems.push_back(message_of(parts...));
  }
  template <class F>
  void reading(const std::string& what, F&& f) {
    try {
      f();
    } catch (const Error& error) {
      problem(what, ": ", error.what());
    }
  }

  void options(OptimizerParamGroup& group, const IValue::Dict& dict, size_t number) {
    OptionFields fields = group.options().fields();
    IValue::Dict own;  // of options that read themselves
    if (!fields.listed)
      reading(message_of("param_groups[", number, "]"), [&] {
        serialize::InputArchive archive{IValue(dict)};
        group.options().serialize(archive);
        own = written(group.options());
      });
    for (const OptionField& field : fields) {
      const IValue* value = dict.find(field.name);
      const bool is_constant = std::holds_alternative<IValue>(field.value);
      if (value)
        reading(message_of("param_groups[", number, "]['", field.name, "']"), [&] { read(field, *value); });
      else if (!field.may_be_missing && !is_constant)
        problem("param_groups[", number, "] has no '", field.name, "'");
    }
    group.extra() = {};
    for (const auto& [key, value] : dict.items) {
      if (!key.isString() || key.toStringRef() == "params") continue;
      const bool known = own.contains(key.toStringRef()) ||
                         std::any_of(fields.begin(), fields.end(),
                                     [&, name = std::string_view(key.toStringRef())](const OptionField& field) {
                                       return name == field.name;
                                     });
      if (!known) group.extra()[key.toStringRef()] = value;
    }
  }

  void state(OptimizerParamState& state, const IValue::Dict& dict, const Tensor& param, int64_t id) {
    StateFields fields = state.fields();
    if (!fields.listed) {
      reading(message_of("state[", id, "]"), [&] {
        serialize::InputArchive archive{IValue(dict)};
        state.serialize(archive);
      });
      return;
    }
    for (const StateField& field : fields) {
      const IValue* value = dict.find(field.name);
      if (value && !value->isNone())
        reading(message_of("state[", id, "]['", field.name, "']"), [&] { read(field, *value, param); });
      else if (!field.may_be_missing)
        problem("state[", id, "] has no '", field.name, "'");
    }
    for (const auto& [key, value] : dict.items) {
      if (value.isNone() || !key.isString()) continue;
      const std::string& name = key.toStringRef();
      const bool known =
          std::any_of(fields.begin(), fields.end(), [&](const StateField& field) { return name == field.name; });
      if (!known) problem("state[", id, "] has '", name, "', which this optimizer does not know");
    }
  }

  void finish(const std::string& optimizer) const {
    if (problems.empty()) return;
    std::string text = optimizer + ": load_state_dict: the dict does not fit:";
    for (const std::string& line : problems) text += "\n  " + line;
    throw ValueError(text);
  }
};

// libtorch's C++ files name states by addresses and number the rest: {"state": {"0x5f": …}, "param_groups":
// {"param_groups/size": 1, "param_groups/0": {"params/size": 1, "params/0": "0x5f", "options": {…}}}}.
IValue::Dict in_pytorchs_layout(const IValue::Dict& given) {
  auto count = [](const IValue::Dict& dict, const char* of) { return dict.at(of).toTensor().item<int64_t>(); };
  const IValue::Dict& groups = given.at("param_groups").toDict();
  IValue::Dict state;
  IValue::List param_groups;
  int64_t id = 0;
  for (int64_t g = 0; g < count(groups, "param_groups/size"); g++) {
    const IValue::Dict& group = groups.at(message_of("param_groups/", g)).toDict();
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < count(group, "params/size"); i++, id++) {
      const std::string& address = group.at(message_of("params/", i)).toStringRef();
      if (const IValue* held = given.at("state").toDict().find(address)) state.items.emplace_back(id, *held);
      ids.push_back(id);
    }
    IValue::Dict options = group.at("options").toDict();
    options["params"] = std::move(ids);
    param_groups.items.emplace_back(std::move(options));
  }
  IValue::Dict whole;
  whole["state"] = std::move(state);
  whole["param_groups"] = std::move(param_groups);
  return whole;
}

std::string optimizer_name(const OptimizerOptions& options) {
  std::string name = detail::class_name(typeid(options));
  constexpr std::string_view ending = "Options";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

}  // namespace

bool operator==(const OptimizerOptions& a, const OptimizerOptions& b) { return same_fields(a, b); }
bool operator==(const OptimizerParamState& a, const OptimizerParamState& b) { return same_fields(a, b); }

IValue Optimizer::state_dict() const {
  IValue::Dict state;
  IValue::List groups;
  int64_t id = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    std::vector<int64_t> ids;
    for (const Tensor& param : group.params()) {
      if (auto place = state_.find(param.impl()); place != state_.end()) {
        IValue::Dict fields = written(*place->second);
        if (fields.size() != 0) state.items.emplace_back(id, std::move(fields));
      }
      ids.push_back(id++);
    }
    std::unique_ptr<OptimizerOptions> options = group.options().clone();
    IValue::Dict dict = written(*options);
    for (const auto& [key, value] : group.extra().items) dict[key.toStringRef()] = value;
    dict["params"] = std::move(ids);
    groups.items.emplace_back(std::move(dict));
  }
  IValue::Dict whole;
  whole["state"] = std::move(state);
  whole["param_groups"] = std::move(groups);
  return whole;
}

void Optimizer::load_state_dict(const IValue& value) { load_states_of(nullptr, value); }

void Optimizer::load_states_of(std::unique_ptr<OptimizerParamState> (*make)(), const IValue& value) {
  const std::string name = optimizer_name(*defaults_);
  Reader reader;
  const IValue* found = value.toDict().find("param_groups");
  const IValue::Dict dict = found && found->isDict() ? in_pytorchs_layout(value.toDict()) : value.toDict();
  const IValue::Dict& states = dict.at("state").toDict();
  const std::vector<IValue> saved_groups = dict.at("param_groups").elements();
  CRESSET_CHECK_AS(ValueError, saved_groups.size() == param_groups_.size(), name,
                   ": load_state_dict: loaded state dict has a different number of parameter groups: found ",
                   saved_groups.size(), " (expected ", param_groups_.size(), ")");

  std::vector<OptimizerParamGroup> groups = param_groups_;
  struct Place {
    size_t position;
    Tensor param;
  };
  std::unordered_map<int64_t, Place> places;
  size_t position = 0;
  for (size_t g = 0; g < groups.size(); g++) {
    const IValue::Dict& saved = saved_groups[g].toDict();
    const std::vector<IValue> ids = saved.at("params").elements();
    const std::vector<Tensor>& params = groups[g].params();
    if (ids.size() != params.size())
      reader.problem("param_groups[", g, "] has ", ids.size(), " parameters (expected ", params.size(), ")");
    for (size_t i = 0; i < params.size() && i < ids.size(); i++)
      places.insert_or_assign(ids[i].toInt(), Place{position + i, params[i]});
    position += params.size();
    reader.options(groups[g], saved, g);
    reader.reading(message_of("param_groups[", g, "]"), [&] { groups[g].options().check(params); });
  }
  reader.finish(name);

  std::vector<std::pair<Place, std::unique_ptr<OptimizerParamState>>> loaded;
  for (const auto& [key, saved] : states.items) {
    auto place = key.isInt() ? places.find(key.toInt()) : places.end();
    if (place == places.end()) {
      reader.problem("state has a key that is in no parameter group");
      continue;
    }
    std::unique_ptr<OptimizerParamState> fresh = make ? make() : new_state();
    const bool has_values = std::any_of(saved.toDict().begin(), saved.toDict().end(),
                                        [](const auto& item) { return !item.second.isNone(); });
    if (!has_values) continue;
    if (!fresh) {
      reader.problem("state[", key.toInt(), "] has ", keys_of(saved.toDict()), ", and ",
                     detail::class_name(typeid(*this)),
                     "::new_state() gives no state to put them into: an optimizer "
                     "that keeps something about its parameters overrides new_state()");
      continue;
    }
    reader.state(*fresh, saved.toDict(), place->second.param, key.toInt());
    loaded.emplace_back(place->second, std::move(fresh));
  }
  reader.finish(name);

  param_groups_ = std::move(groups);
  state_.clear();
  for (auto& [place, state] : loaded) state_.in_order(place.position, place.param.impl()) = std::move(state);
}

void Optimizer::save(serialize::OutputArchive& archive) const {
  const IValue dict = state_dict();
  for (const auto& [key, value] : dict.toDict()) archive.write(key.toStringRef(), value);
}
void Optimizer::load(serialize::InputArchive& archive) {
  const IValue::Dict& values = archive.values();
  load_state_dict(detail::is_old_archive(values)
                      ? detail::from_old_archive(optimizer_name(*defaults_), values, state_dict())
                      : IValue(values));
}

}  // namespace cresset::optim
