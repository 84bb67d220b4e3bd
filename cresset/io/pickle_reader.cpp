// The unpickler: a stack machine over a list of nodes. Nodes are shared by number, because a pickle may add to a list
// that it has already put elsewhere; they become values at the end, where nesting and size are limited.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "cresset/io/pickle.h"

namespace cresset::io {
namespace {

using Index = uint32_t;

enum class Kind : uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  global,
  storage,
  tensor,
  set
};

struct Node {
  Kind kind = Kind::none;
  int64_t integer = 0;  // also: which storage, which tensor
  double real = 0;
  std::string text;
  std::vector<Index> items;  // of a dict: keys and values in turn
};

struct HeldStorage {
  Ref<Storage> storage;
  DType dtype;
};

constexpr size_t kMostNodes = size_t{1} << 24;
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

bool is_dtype_name(std::string_view name) {
  for (int i = 0; i < kDTypes; i++)
    if (name == name_of(static_cast<DType>(i))) return true;
  constexpr std::string_view others[] = {"float",  "double",    "half",          "int",         "long",
                                         "short",  "cfloat",    "cdouble",       "uint16",      "uint32",
                                         "uint64", "complex32", "float8_e4m3fn", "float8_e5m2", "strided"};
  return std::find(std::begin(others), std::end(others), name) != std::end(others);
}

bool is_known(const std::string& global) {
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

// A tensor over a storage that is there already; the caller has checked that it fits.
Tensor tensor_over(const Ref<Storage>& storage, DType dtype, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
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

class Unpickler {
 public:
  Unpickler(const char* function, const Source& source, const StorageReader& storage_of, Device device)
      : function_(function), source_(source), storage_of_(storage_of), device_(device) {}

  IValue run() {
    while (!step()) {
    }
    if (stack_.size() != 1) broken("ends with ", stack_.size(), " values (expected one)");
    return value_of(stack_.back(), 0);
  }

 private:
  template <class... Args>
  [[noreturn, gnu::cold]] void broken(const Args&... what) const {
    fault(function_, source_.name(), "byte ", at_, " of the pickle: ", what...);
  }

  // ---- bytes
  template <class Integer>
  Integer take() {
    if (!source_.holds(at_, sizeof(Integer))) broken("the pickle is cut off");
    auto value = source_.at<Integer>(at_);
    at_ += sizeof(Integer);
    return value;
  }
  std::string take_text(uint64_t length) {
    if (!source_.holds(at_, length)) broken("a text of ", length, " bytes is cut off");
    std::string text(source_.data() + at_, length);
    at_ += length;
    return text;
  }
  std::string take_line() {
    const char* start = source_.data() + at_;
    const void* end = std::memchr(start, '\n', source_.size() - at_);
    if (!end) broken("a name is cut off");
    std::string line(start, static_cast<size_t>(static_cast<const char*>(end) - start));
    at_ += line.size() + 1;
    return line;
  }

  // ---- nodes and the stack
  Index add(Node node) {
    if (nodes_.size() >= kMostNodes) broken("more than ", kMostNodes, " values");
    nodes_.push_back(std::move(node));
    return static_cast<Index>(nodes_.size() - 1);
  }
  void push(Node node) { stack_.push_back(add(std::move(node))); }
  void push(Kind kind) {
    Node node;
    node.kind = kind;
    push(std::move(node));
  }
  void push_text(Kind kind, std::string text) {
    count_text(text.size(), 4);
    Node node;
    node.kind = kind;
    node.text = std::move(text);
    push(std::move(node));
  }
  void push_integer(int64_t value, Kind kind = Kind::integer) {
    Node node;
    node.kind = kind;
    node.integer = value;
    push(std::move(node));
  }
  void push_tuple(std::vector<Index> items) {
    Node node;
    node.kind = Kind::tuple;
    node.items = std::move(items);
    push(std::move(node));
  }
  Index pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
      broken("takes a value that is not there");
    Index top = stack_.back();
    stack_.pop_back();
    return top;
  }
  Index top() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
      broken("looks at a value that is not there");
    return stack_.back();
  }
  std::vector<Index> pop_to_mark() {
    if (marks_.empty()) broken("a mark is missing");
    std::vector<Index> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  const Node& node(Index index) const { return nodes_[index]; }

  void remember(uint64_t slot) {
    if (slot >= kMostNodes) broken("memo ", slot, " is out of range");
    const Index value = top();
    memo_[static_cast<uint32_t>(slot)] = value;
  }
  void recall(uint64_t slot) {
    auto found = memo_.find(static_cast<uint32_t>(slot));
    if (slot >= kMostNodes || found == memo_.end()) broken("memo ", slot, " is empty");
    stack_.push_back(found->second);
  }

  void append(const std::vector<Index>& items) {
    Node& list = nodes_[top()];
    if (list.kind != Kind::list && list.kind != Kind::set) broken("appends to what is no list");
    list.items.insert(list.items.end(), items.begin(), items.end());
    count_links(items.size());
  }
  void set_items(const std::vector<Index>& items) {
    if (items.size() % 2) broken("sets a key without a value");
    Node& dict = nodes_[top()];
    if (dict.kind != Kind::dict) broken("sets an item of what is no dict");
    dict.items.insert(dict.items.end(), items.begin(), items.end());
    count_links(items.size());
  }
  // One recalled value takes two bytes: what containers hold is limited beside what there is.
  void count_links(size_t more) {
    links_ += more;
    if (links_ > kMostNodes) broken("more than ", kMostNodes, " items");
  }

  // So is text, which a call or a memo may copy for a few bytes of pickle.
  void count_text(size_t more, uint64_t times) {
    text_ += more;
    if (text_ > (uint64_t{1} << 26) + times * source_.size()) broken("more text than the file can hold");
  }

  // ---- one opcode; true at the end
  bool step() {
    const auto code = take<unsigned char>();
    switch (code) {
      case 0x80: {
        const auto version = take<unsigned char>();
        if (version < 2 || version > 5) broken("protocol ", int{version}, " (expected 2 to 5)");
        return false;
      }
      case 0x95:  // FRAME: only a hint
        take<uint64_t>();
        return false;
      case '.':
        return true;
      case '(':
        marks_.push_back(stack_.size());
        if (marks_.size() > kMostNodes) broken("too many marks");
        return false;
      case '0':
        pop();
        return false;
      case '2':
        stack_.push_back(top());
        count_links(1);
        return false;
      case 'N':
        push(Kind::none);
        return false;
      case 0x88:
        push_integer(1, Kind::boolean);
        return false;
      case 0x89:
        push_integer(0, Kind::boolean);
        return false;
      case 'J':
        push_integer(take<int32_t>());
        return false;
      case 'K':
        push_integer(take<unsigned char>());
        return false;
      case 'M':
        push_integer(take<uint16_t>());
        return false;
      case 0x8A:
        push_long(take<unsigned char>());
        return false;
      case 0x8B:
        push_long(take<uint32_t>());
        return false;
      case 'G':
        push_double();
        return false;
      case 'X':
        push_text(Kind::text, take_text(take<uint32_t>()));
        return false;
      case 0x8C:
        push_text(Kind::text, take_text(take<unsigned char>()));
        return false;
      case 0x8D:
        push_text(Kind::text, take_text(take<uint64_t>()));
        return false;
      case 'U':
      case 'C':
        push_text(code == 'U' ? Kind::text : Kind::bytes, take_text(take<unsigned char>()));
        return false;
      case 'T':
      case 'B':
        push_text(code == 'T' ? Kind::text : Kind::bytes, take_text(take<uint32_t>()));
        return false;
      case 0x8E:
      case 0x96:
        push_text(Kind::bytes, take_text(take<uint64_t>()));
        return false;
      default:
        container(code);
        return false;
    }
  }

  void container(unsigned char code) {
    switch (code) {
      case ']':
        return push(Kind::list);
      case '}':
        return push(Kind::dict);
      case 0x8F:
        return push(Kind::set);
      case ')':
        return push(Kind::tuple);
      case 't':
        return push_tuple(pop_to_mark());
      case 0x85:
        return push_tuple({pop()});
      case 0x86: {
        const Index b = pop(), a = pop();
        return push_tuple({a, b});
      }
      case 0x87: {
        const Index c = pop(), b = pop(), a = pop();
        return push_tuple({a, b, c});
      }
      case 0x91: {  // FROZENSET
        Node node;
        node.kind = Kind::set;
        node.items = pop_to_mark();
        return push(std::move(node));
      }
      case 'a': {
        const Index item = pop();
        return append({item});
      }
      case 'e':
      case 0x90:
        return append(pop_to_mark());
      case 's': {
        const Index value = pop(), key = pop();
        return set_items({key, value});
      }
      case 'u':
        return set_items(pop_to_mark());
      case 'q':
        return remember(take<unsigned char>());
      case 'r':
        return remember(take<uint32_t>());
      case 0x94:
        return remember(memo_.size());
      case 'h':
        recall(take<unsigned char>());
        return count_links(1);
      case 'j':
        recall(take<uint32_t>());
        return count_links(1);
      default:
        object(code);
    }
  }

  void object(unsigned char code) {
    switch (code) {
      case 'c': {
        std::string module = take_line(), name = take_line();
        return push_global(module + "." + name);
      }
      case 0x93: {
        const Index name = pop(), module = pop();
        if (node(name).kind != Kind::text || node(module).kind != Kind::text) broken("a global's name is no text");
        return push_global(node(module).text + "." + node(name).text);
      }
      case 'R': {
        const Index arguments = pop(), function = pop();
        return call(function, arguments);
      }
      case 0x81: {  // NEWOBJ
        const Index arguments = pop(), function = pop();
        return call(function, arguments);
      }
      case 'b': {  // BUILD: attributes of an OrderedDict (a state_dict's _metadata) or of a tensor say nothing we keep
        pop();
        const Kind kind = node(top()).kind;
        if (kind != Kind::dict && kind != Kind::tensor) broken("sets attributes of what has none");
        return;
      }
      case 'Q':
        return load_storage(pop());
      default:
        broken("opcode ", int{code}, " is none that torch.save writes");
    }
  }

  void push_long(uint64_t length) {
    if (length > 9 || !source_.holds(at_, length))
      broken("an integer of ", length, " bytes (expected at most 8: 64 bits)");
    if (length == 9 && source_.at<unsigned char>(at_ + 8) != 0) broken("an integer that 64 bits do not hold");
    uint64_t bits = 0;
    for (uint64_t i = 0; i < std::min<uint64_t>(length, 8); i++)
      bits |= uint64_t{source_.at<unsigned char>(at_ + i)} << (8 * i);
    if (length > 0 && length < 8 && source_.at<unsigned char>(at_ + length - 1) & 0x80)
      bits |= ~uint64_t{0} << (8 * length);
    if (length == 9 && static_cast<int64_t>(bits) < 0) broken("an integer that 64 bits do not hold");
    at_ += length;
    push_integer(static_cast<int64_t>(bits));
  }

  void push_double() {
    const auto bits = __builtin_bswap64(take<uint64_t>());
    Node node;
    node.kind = Kind::real;
    node.real = std::bit_cast<double>(bits);
    push(std::move(node));
  }

  void push_global(std::string name) {
    if (name.starts_with("__torch__."))
      broken("'", name,
             "' is a TorchScript class: files of torch.jit.save and of libtorch's C++ torch::save are not read; in "
             "Python, torch.save(module.state_dict(), path) gives one that is");
    if (!is_known(name)) broken("refused to load '", name, "': only tensors and plain containers are read");
    push_text(Kind::global, std::move(name));
  }

  // ---- what the known names do
  void call(Index function, Index arguments) {
    if (node(function).kind != Kind::global) broken("calls what is no function");
    if (node(arguments).kind != Kind::tuple) broken("calls '", node(function).text, "' without a tuple of arguments");
    const std::string name = node(function).text;
    if (node(arguments).items.size() > 16) broken("calls '", name, "' with too many arguments");
    const std::vector<Index> given = node(arguments).items;
    if (name == "collections.OrderedDict") return ordered_dict(given);
    if (name.starts_with("torch._utils._rebuild_tensor")) return rebuild_tensor(name, given);
    if (name == "torch._utils._rebuild_parameter" || name == "torch.nn.parameter.Parameter")
      return rebuild_parameter(given);
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

  void ordered_dict(const std::vector<Index>& given) {
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

  int64_t integer_at(const std::vector<Index>& items, size_t i, const char* what) const {
    if (i >= items.size() || node(items[i]).kind != Kind::integer) broken(what, " is no integer");
    return node(items[i]).integer;
  }
  std::vector<int64_t> integers_of(Index index, const char* what) const {
    const Node& list = node(index);
    if (list.kind != Kind::tuple && list.kind != Kind::list) broken(what, " is no tuple");
    if (list.items.size() > 64) broken(what, " has ", list.items.size(), " dimensions (at most 64)");
    std::vector<int64_t> values;
    for (size_t i = 0; i < list.items.size(); i++) values.push_back(integer_at(list.items, i, what));
    return values;
  }

  // ('storage', torch.FloatStorage, key, location, numel); the location is not kept.
  void load_storage(Index id) {
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

  void rebuild_tensor(const std::string& name, const std::vector<Index>& given) {
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
  void apply_bits(Tensor& tensor, const Node& bits) {
    if (bits.kind != Kind::dict) return;
    for (size_t i = 0; i + 1 < bits.items.size(); i += 2) {
      if (!node(bits.items[i + 1]).integer) continue;
      const std::string& which = node(bits.items[i]).text;
      if (which == "conj" && tensor.is_complex()) tensor = tensor.conj_physical();
      if (which == "neg" && tensor.dtype() != kBool) tensor = -tensor;
    }
  }

  void check_fits(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset,
                  const HeldStorage& held) const {
    if (sizes.size() != strides.size())
      broken("a tensor has ", sizes.size(), " sizes and ", strides.size(), " strides");
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

  void rebuild_parameter(const std::vector<Index>& given) {
    if (given.empty() || node(given[0]).kind != Kind::tensor) broken("a parameter without a tensor");
    const Tensor data = tensors_[static_cast<size_t>(node(given[0]).integer)];
    const bool wants_grad = given.size() < 2 || node(given[1]).integer;
    push_tensor(alias(data), wants_grad);
  }

  void push_tensor(Tensor tensor, bool wants_grad) {
    if (wants_grad) {
      if (!is_differentiable(tensor.dtype())) broken("a tensor of ", name_of(tensor.dtype()), " that wants a gradient");
      tensor.requires_grad_();
    }
    tensors_.push_back(std::move(tensor));
    push_integer(static_cast<int64_t>(tensors_.size() - 1), Kind::tensor);
  }

  // ---- values
  IValue value_of(Index index, int depth) {
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
  std::vector<IValue> values_of(const Node& n, int depth) {
    std::vector<IValue> values;
    for (Index item : n.items) values.push_back(value_of(item, depth + 1));
    return values;
  }
  // A key that comes again replaces the value.
  IValue dict_of(const Node& n, int depth) {
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

  const char* function_;
  const Source& source_;
  const StorageReader& storage_of_;
  Device device_;
  uint64_t at_ = 0;
  std::vector<Node> nodes_;
  std::vector<Index> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Index> memo_;
  std::vector<HeldStorage> storages_;
  std::vector<Tensor> tensors_;
  size_t links_ = 0, values_ = 0;
  uint64_t text_ = 0;
};

}  // namespace

IValue read_pickle(const char* function, const Source& source, const StorageReader& storage_of, Device device) {
  return Unpickler(function, source, storage_of, device).run();
}

}  // namespace cresset::io
