// What the names that a pickle may use stand for, and how nodes become values.
#include <algorithm>

#include "cresset/io/pickle_machine.h"

namespace cresset::io {
namespace {

using Index = Unpickler::Index;

constexpr size_t kFewValues = size_t{1} << 16;

const std::unordered_map<std::string_view, DType>& storage_types() {
  static const auto* types = new std::unordered_map<std::string_view, DType>{{"ByteStorage", kByte},
                                                                             {"CharStorage", kChar},
                                                                             {"ShortStorage", kShort},
                                                                             {"IntStorage", kInt},
                                                                             {"LongStorage", kLong},
                                                                             {"HalfStorage", kHalf},
                                                                             {"FloatStorage", kFloat},
                                                                             {"DoubleStorage", kDouble},
                                                                             {"BoolStorage", kBool},
                                                                             {"BFloat16Storage", kBFloat16},
                                                                             {"ComplexFloatStorage", kComplexFloat},
                                                                             {"ComplexDoubleStorage", kComplexDouble},
                                                                             {"UntypedStorage", kByte}};
  return *types;
}

// A tensor over a storage that is there already; the caller has checked that it fits.
Tensor tensor_over(const Ref<StorageImpl>& storage, DType dtype, IntArrayRef sizes, IntArrayRef strides,
                   int64_t offset) {
  TensorImpl* impl = TensorImpl::make();
  Tensor tensor(Ref<TensorImpl>::adopt(impl));
  impl->dtype = dtype;
  impl->device = storage->device;
  impl->inference = thread_state.inference;
  impl->offset = offset;
  impl->set_geometry(sizes, strides);
  impl->storage = storage;
  return tensor;
}

}  // namespace

bool is_dtype_name(std::string_view name) {
  for (int i = 0; i < kDTypes; i++)
    if (name == name_of(static_cast<DType>(i))) return true;
  constexpr std::string_view others[] = {"float",  "double",    "half",          "int",         "long",
                                         "short",  "cfloat",    "cdouble",       "uint16",      "uint32",
                                         "uint64", "complex32", "float8_e4m3fn", "float8_e5m2", "strided"};
  return std::find(std::begin(others), std::end(others), name) != std::end(others);
}

bool is_archive_class(std::string_view name) {
  constexpr std::string_view start = "__torch__.", mangled = "___torch_mangle_", end = "Module";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size()) return false;
  name = name.substr(start.size(), name.size() - start.size() - end.size());
  if (name.empty()) return true;
  if (!name.starts_with(mangled) || !name.ends_with('.')) return false;
  name = name.substr(mangled.size(), name.size() - mangled.size() - 1);
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

// torch.jit._pickle.build_tensorlist and the like: how archives mark a list whose elements have one type.
bool is_typed_list(std::string_view name) {
  return name.starts_with("torch.jit._pickle.build_") && name.ends_with("list");
}

bool is_known_global(const std::string& global) {
  if (is_archive_class(global) || is_typed_list(global)) return true;
  constexpr std::string_view known[] = {"collections.OrderedDict",
                                        "torch._utils._rebuild_tensor_v2",
                                        "torch._utils._rebuild_tensor",
                                        "torch._utils._rebuild_parameter",
                                        "torch.Size",
                                        "torch.device",
                                        "torch.serialization._get_layout",
                                        "builtins.set",
                                        "__builtin__.set",
                                        "builtins.frozenset",
                                        "__builtin__.frozenset",
                                        "_codecs.encode",
                                        "builtins.bytearray",
                                        "torch.nn.parameter.Parameter"};
  if (std::find(std::begin(known), std::end(known), global) != std::end(known)) return true;
  if (!global.starts_with("torch.")) return false;
  std::string_view rest = std::string_view(global).substr(6);
  if (rest.starts_with("storage.")) rest.remove_prefix(8);
  return storage_types().contains(rest) || is_dtype_name(rest);
}

void Unpickler::call(Index function, Index arguments) {
  if (node(function).kind != Kind::global) broken("calls what is no function");
  if (node(arguments).kind != Kind::tuple) broken("calls '", node(function).text, "' without a tuple of arguments");
  const std::string name = node(function).text;
  if (node(arguments).items.size() > 16) broken("calls '", name, "' with too many arguments");
  const std::vector<Index> given = node(arguments).items;
  if (name == "collections.OrderedDict") return ordered_dict(given);
  if (is_archive_class(name)) {
    if (!given.empty()) broken("an object of '", name, "' with arguments");
    ordered_dict(given);
    nodes_[top()].text = kArchive;
    return;
  }
  if (name.starts_with("torch._utils._rebuild_tensor")) return rebuild_tensor(name, given);
  if (name == "torch._utils._rebuild_parameter" || name == "torch.nn.parameter.Parameter")
    return rebuild_parameter(given);
  if (is_typed_list(name)) {
    if (given.size() != 1 || node(given[0]).kind != Kind::list) broken(name, " without a list");
    stack_.push_back(given[0]);
    return;
  }
  if (name == "torch.Size") {
    if (given.size() != 1 || (node(given[0]).kind != Kind::tuple && node(given[0]).kind != Kind::list))
      broken("torch.Size without a tuple");
    count_links(node(given[0]).items.size());
    return push_tuple(node(given[0]).items);
  }
  if (name == "torch.device") {
    if (given.empty() || given.size() > 2 || node(given[0]).kind != Kind::text) broken("torch.device without a name");
    std::string text = node(given[0]).text;
    if (given.size() == 2 && node(given[1]).kind == Kind::integer)
      text.append(":").append(std::to_string(node(given[1]).integer));
    return push_text(Kind::text, std::move(text));
  }
  if (name == "torch.serialization._get_layout" || name == "_codecs.encode" || name == "builtins.bytearray") {
    if (given.empty() || (node(given[0]).kind != Kind::text && node(given[0]).kind != Kind::bytes))
      broken(name, " without a text");
    return push_text(Kind::text, node(given[0]).text);
  }
  if (name.ends_with("set")) {
    Node set;
    set.kind = Kind::set;
    if (given.size() > 1 || (given.size() == 1 && node(given[0]).kind != Kind::list &&
                             node(given[0]).kind != Kind::set && node(given[0]).kind != Kind::tuple))
      broken("set without a list");
    if (given.size() == 1) set.items = node(given[0]).items;
    count_links(set.items.size());
    return push(std::move(set));
  }
  broken("calls '", name, "', which is no function");
}

void Unpickler::ordered_dict(const std::vector<Index>& given) {
  Node dict;
  dict.kind = Kind::dict;
  if (given.size() == 1 && node(given[0]).kind == Kind::list) {  // as Python 2 wrote it: a list of pairs
    for (Index pair : node(given[0]).items) {
      const Node& item = node(pair);
      if (item.items.size() != 2 || (item.kind != Kind::list && item.kind != Kind::tuple))
        broken("OrderedDict of what are no pairs");
      dict.items.insert(dict.items.end(), item.items.begin(), item.items.end());
    }
    count_links(dict.items.size());
  } else if (!given.empty()) {
    broken("OrderedDict with unknown arguments");
  }
  push(std::move(dict));
}

void Unpickler::fill_archive(Index archive, Index state) {
  if (node(state).kind != Kind::dict) broken("an archive that is filled with no dict");
  count_links(node(state).items.size());
  nodes_[archive].items = node(state).items;
}

int64_t Unpickler::integer_at(const std::vector<Index>& items, size_t i, const char* what) const {
  if (i >= items.size() || node(items[i]).kind != Kind::integer) broken(what, " is no integer");
  return node(items[i]).integer;
}

std::vector<int64_t> Unpickler::integers_of(Index index, const char* what) const {
  const Node& list = node(index);
  if (list.kind != Kind::tuple && list.kind != Kind::list) broken(what, " is no tuple");
  if (list.items.size() > 64) broken(what, " has ", list.items.size(), " dimensions (at most 64)");
  std::vector<int64_t> values;
  for (size_t i = 0; i < list.items.size(); i++) values.push_back(integer_at(list.items, i, what));
  return values;
}

// ('storage', torch.FloatStorage, key, location, numel); the location is not kept.
void Unpickler::load_storage(Index id) {
  const Node& tuple = node(id);
  if (tuple.kind != Kind::tuple || tuple.items.size() < 5 || node(tuple.items[0]).text != "storage")
    broken("a persistent object that is no storage");
  const Node& type = node(tuple.items[1]);
  std::string_view type_name = type.text;
  type_name.remove_prefix(std::min(type_name.size(), type_name.rfind('.') + 1));
  if (type.kind != Kind::global || !storage_types().contains(type_name))
    broken("a storage of the unknown type '", type.text, "'");
  if (node(tuple.items[2]).kind != Kind::text) broken("a storage's key is no text");
  StorageKey key{node(tuple.items[2]).text, storage_types().at(type_name), 0};
  const int64_t numel = integer_at(tuple.items, 4, "a storage's size");
  if (numel < 0) broken("a storage of ", numel, " elements");
  key.numel = static_cast<uint64_t>(numel);
  storages_.push_back({storage_of_(key), key.dtype});
  push_integer(static_cast<int64_t>(storages_.size() - 1), Kind::storage);
}

void Unpickler::rebuild_tensor(const std::string& name, const std::vector<Index>& given) {
  const bool first_version = name == "torch._utils._rebuild_tensor";
  if (given.size() < (first_version ? 4u : 6u) || node(given[0]).kind != Kind::storage)
    broken(name, " with unknown arguments");
  const HeldStorage& held = storages_[static_cast<size_t>(node(given[0]).integer)];
  const int64_t offset = integer_at(given, 1, "a tensor's offset");
  const std::vector<int64_t> sizes = integers_of(given[2], "a tensor's size"),
                             strides = integers_of(given[3], "a tensor's stride");
  check_fits(sizes, strides, offset, held);
  Tensor tensor = tensor_over(held.storage, held.dtype, sizes, strides, offset);
  if (given.size() > 6 && !device_.is_meta()) apply_bits(tensor, node(given[6]));
  const bool wants_grad = given.size() > 4 && node(given[4]).kind == Kind::boolean && node(given[4]).integer;
  push_tensor(std::move(tensor), wants_grad);
}

// Lazily conjugated and negated tensors say so beside their values.
void Unpickler::apply_bits(Tensor& tensor, const Node& bits) {
  if (bits.kind != Kind::dict) return;
  for (size_t i = 0; i + 1 < bits.items.size(); i += 2) {
    if (!node(bits.items[i + 1]).integer) continue;
    const std::string& which = node(bits.items[i]).text;
    if (which == "conj" && tensor.is_complex()) tensor = tensor.conj_physical();
    if (which == "neg" && tensor.dtype() != kBool) tensor = -tensor;
  }
}

void Unpickler::check_fits(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset,
                           const HeldStorage& held) const {
  if (sizes.size() != strides.size()) broken("a tensor has ", sizes.size(), " sizes and ", strides.size(), " strides");
  if (offset < 0) broken("a tensor begins at ", offset);
  bool empty = false, overflow = false;
  int64_t numel = 1, last = offset;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] < 0 || strides[i] < 0) broken("a tensor has size ", sizes[i], " and stride ", strides[i]);
    empty = empty || sizes[i] == 0;
  }
  for (size_t i = 0; i < sizes.size() && !empty; i++) {
    int64_t reach;
    overflow = overflow || __builtin_mul_overflow(numel, sizes[i], &numel) ||
               __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last);
  }
  const auto held_elements = static_cast<int64_t>(held.storage->bytes / element_size(held.dtype));
  if (overflow || numel > INT64_MAX / 16 || (empty ? offset > held_elements : last >= held_elements))
    broken("a tensor of shape ", text_of(sizes), " and strides ", text_of(strides), " at ", offset,
           " reaches beyond its storage of ", held_elements, " elements");
}

void Unpickler::rebuild_parameter(const std::vector<Index>& given) {
  if (given.empty() || node(given[0]).kind != Kind::tensor) broken("a parameter without a tensor");
  const Tensor data = tensors_[static_cast<size_t>(node(given[0]).integer)];
  const bool wants_grad = given.size() < 2 || node(given[1]).integer;
  push_tensor(alias(data), wants_grad);
}

void Unpickler::push_tensor(Tensor tensor, bool wants_grad) {
  if (wants_grad) {
    if (!is_differentiable(tensor.dtype())) broken("a tensor of ", name_of(tensor.dtype()), " that wants a gradient");
    tensor.requires_grad_();
  }
  tensors_.push_back(std::move(tensor));
  push_integer(static_cast<int64_t>(tensors_.size() - 1), Kind::tensor);
}

IValue Unpickler::value_of(Index index, int depth) {
  if (depth > kDeepestNesting) broken("containers are nested deeper than ", kDeepestNesting);
  // Shared containers become copies; a small pickle could otherwise grow without end.
  if (++values_ > kFewValues + 8 * source_.size())
    broken("shared containers grow to more than ", values_ - 1, " values");
  const Node& n = node(index);
  count_text(n.text.size(), 16);
  switch (n.kind) {
    case Kind::none:
      return {};
    case Kind::boolean:
      return n.integer != 0;
    case Kind::integer:
      return n.integer;
    case Kind::real:
      return n.real;
    case Kind::text:
    case Kind::bytes:
      return n.text;
    case Kind::tensor:
      return tensors_[static_cast<size_t>(n.integer)];
    case Kind::tuple:
      return IValue::Tuple{values_of(n, depth)};
    case Kind::list:
    case Kind::set:
      return IValue::List{values_of(n, depth)};
    case Kind::dict:
      return dict_of(n, depth);
    case Kind::global: {
      std::string_view name = n.text;
      if (name.starts_with("torch.") && is_dtype_name(name.substr(6))) return n.text;
      broken("'", n.text, "' stands where a value should");
    }
    case Kind::storage:
      broken("a storage without a tensor stands where a value should");
  }
  __builtin_unreachable();
}

std::vector<IValue> Unpickler::values_of(const Node& n, int depth) {
  std::vector<IValue> values;
  for (Index item : n.items) values.push_back(value_of(item, depth + 1));
  return values;
}

// A key that comes again replaces the value.
IValue Unpickler::dict_of(const Node& n, int depth) {
  IValue::Dict dict;
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < n.items.size(); i += 2) {
    const Node& key = node(n.items[i]);
    if (key.kind != Kind::text && key.kind != Kind::bytes && key.kind != Kind::integer && key.kind != Kind::boolean &&
        key.kind != Kind::real && key.kind != Kind::none && key.kind != Kind::tuple)
      broken("a dict's key is neither text nor number");
    IValue value = value_of(n.items[i + 1], depth + 1);
    if (key.kind == Kind::tuple) {
      dict.items.emplace_back(value_of(n.items[i], depth + 1), std::move(value));
      continue;
    }
    std::string name = message_of(static_cast<int>(key.kind), ":", key.text, ":", key.integer, ":", key.real);
    auto [place, is_new] = places.emplace(std::move(name), dict.items.size());
    if (is_new)
      dict.items.emplace_back(value_of(n.items[i], depth + 1), std::move(value));
    else
      dict.items[place->second].second = std::move(value);
  }
  return dict;
}

}  // namespace cresset::io
