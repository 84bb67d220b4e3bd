// The unpickler, for the files that implement it: a stack machine over a list of nodes. Nodes are shared by number,
// because a pickle may add to a list that it has already put elsewhere; they become values at the end, where nesting
// and size are limited.
#pragma once

#include <unordered_map>

#include "cresset/io/pickle.h"

namespace cresset::io {

enum class PickleKind : uint8_t {
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

struct PickleNode {
  PickleKind kind = PickleKind::none;
  int64_t integer = 0;  // also: which storage, which tensor
  double real = 0;
  std::string text;
  std::vector<uint32_t> items;  // of a dict: keys and values in turn
};

struct HeldStorage {
  Ref<StorageImpl> storage;
  DType dtype;
};

inline constexpr size_t kMostPickleNodes = size_t{1} << 24;

bool is_known_global(const std::string& name);
bool is_dtype_name(std::string_view name);
// The classes that libtorch's C++ torch::save writes: __torch__.Module, and __torch__.___torch_mangle_3.Module below.
bool is_archive_class(std::string_view name);
inline constexpr std::string_view kArchive = "archive";  // the text of a dict that is an object of such a class

class Unpickler {
 public:
  using Index = uint32_t;
  using Kind = PickleKind;
  using Node = PickleNode;

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
    if (nodes_.size() >= kMostPickleNodes) broken("more than ", kMostPickleNodes, " values");
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
    if (slot >= kMostPickleNodes) broken("memo ", slot, " is out of range");
    const Index value = top();
    memo_[static_cast<uint32_t>(slot)] = value;
  }
  void recall(uint64_t slot) {
    auto found = memo_.find(static_cast<uint32_t>(slot));
    if (slot >= kMostPickleNodes || found == memo_.end()) broken("memo ", slot, " is empty");
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
    if (links_ > kMostPickleNodes) broken("more than ", kMostPickleNodes, " items");
  }

  // So is text, which a call or a memo may copy for a few bytes of pickle.
  void count_text(size_t more, uint64_t times) {
    text_ += more;
    if (text_ > (uint64_t{1} << 26) + times * source_.size()) broken("more text than the file can hold");
  }

  // ---- one opcode; true at the end
  bool step();

  void container(unsigned char code);

  void object(unsigned char code);

  void push_long(uint64_t length);

  void push_double();

  void push_global(std::string name);

  // ---- what the known names do
  void call(Index function, Index arguments);

  void ordered_dict(const std::vector<Index>& given);
  void fill_archive(Index archive, Index state);

  int64_t integer_at(const std::vector<Index>& items, size_t i, const char* what) const;
  std::vector<int64_t> integers_of(Index index, const char* what) const;

  void load_storage(Index id);

  void rebuild_tensor(const std::string& name, const std::vector<Index>& given);

  void apply_bits(Tensor& tensor, const Node& bits);

  void check_fits(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, int64_t offset,
                  const HeldStorage& held) const;

  void rebuild_parameter(const std::vector<Index>& given);

  void push_tensor(Tensor tensor, bool wants_grad);

  // ---- values
  IValue value_of(Index index, int depth);
  std::vector<IValue> values_of(const Node& n, int depth);
  IValue dict_of(const Node& n, int depth);

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

}  // namespace cresset::io
