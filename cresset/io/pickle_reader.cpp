// Opcodes of the unpickler.
#include <algorithm>
#include <bit>

#include "cresset/io/pickle_machine.h"

namespace cresset::io {

bool Unpickler::step() {
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
      if (marks_.size() > kMostPickleNodes) broken("too many marks");
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

void Unpickler::container(unsigned char code) {
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

void Unpickler::object(unsigned char code) {
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
      const Index state = pop();
      if (node(top()).kind == Kind::dict && node(top()).text == kArchive) return fill_archive(top(), state);
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

void Unpickler::push_long(uint64_t length) {
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

void Unpickler::push_double() {
  const auto bits = __builtin_bswap64(take<uint64_t>());
  Node node;
  node.kind = Kind::real;
  node.real = std::bit_cast<double>(bits);
  push(std::move(node));
}

void Unpickler::push_global(std::string name) {
  if (name.starts_with("__torch__.") && !is_archive_class(name))
    broken("'", name,
           "' is a TorchScript class: files of torch.jit.save are not read; in Python, torch.save(module.state_dict(), "
           "path) gives one that is");
  if (!is_known_global(name))
    broken(
        "refused to load '", name, "': only tensors and plain containers are read",
        name.starts_with("torch.nn.modules.") ? "; in Python, torch.save(module.state_dict(), path) gives such" : "");
  push_text(Kind::global, std::move(name));
}

IValue read_pickle(const char* function, const Source& source, const StorageReader& storage_of, Device device) {
  return Unpickler(function, source, storage_of, device).run();
}

}  // namespace cresset::io
