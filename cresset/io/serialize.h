// save and load: tensors, lists of tensors, plain values, and whatever has a state_dict (modules, holders, optimizers,
// schedulers), to and from a path, a stream, or memory. The files are PyTorch's .pt (io/pt.h).
//
//   save(net, "net.pt");  load(net, "net.pt");
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>

#include "cresset/core/ivalue.h"
#include "cresset/core/ordered_dict.h"

namespace cresset {
namespace nn {
class Module;
}
namespace io {

CRESSET_API void save_value(const IValue& value, const std::string& path);
CRESSET_API void save_value(const IValue& value, std::ostream& stream);
CRESSET_API void save_value(const IValue& value, std::vector<char>& bytes);  // replaces what they hold
// Called with piece after piece; returns how much it took, and anything less than all is an error.
CRESSET_API void save_value(const IValue& value, const std::function<size_t(const void*, size_t)>& writer);

CRESSET_API IValue load_value(const std::string& path);
CRESSET_API IValue load_value(std::istream& stream);  // to its end
CRESSET_API IValue load_value(const std::vector<char>& bytes);
CRESSET_API IValue load_value(const char* data, size_t size);
// read(position, buffer, n) fills the buffer and returns how many bytes it gave; size() is the whole.
CRESSET_API IValue load_value(const std::function<size_t(uint64_t, void*, size_t)>& read,
                              const std::function<size_t()>& size);

CRESSET_API IValue to_value(const OrderedDict<std::string, Tensor>& dict);
CRESSET_API OrderedDict<std::string, Tensor> to_state_dict(const IValue& value);
// Takes over the values as libtorch does: handles on a tensor that is defined already see them too.
CRESSET_API void assign(Tensor& tensor, const Tensor& loaded);
CRESSET_API void move_to(IValue& value, Device device);

}  // namespace io

namespace serialize {

// Values by key, nested: a thin layer over a dict for code that writes its own parts. A class with
// `operator<<(OutputArchive&, const T&)` and `operator>>(InputArchive&, T&)` is saved and loaded by them; modules and
// optimizers have both, and call their virtual save and load.
struct CompilationUnit {};  // libtorch's archives share one; nested(archive.compilation_unit()) is how they are made
class CRESSET_API OutputArchive {
 public:
  OutputArchive() = default;
  explicit OutputArchive(const std::shared_ptr<CompilationUnit>& /* unit */) {}
  std::shared_ptr<CompilationUnit> compilation_unit() const { return nullptr; }
  void write(const std::string& key, const IValue& value);
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, OutputArchive& nested);
  template <class... Args>
  void operator()(Args&&... args) {
    write(std::forward<Args>(args)...);
  }
  template <class To>
  void save_to(To&& to) const {
    io::save_value(values_, std::forward<To>(to));
  }
  const IValue::Dict& values() const { return values_; }

 private:
  IValue::Dict values_;
};

class CRESSET_API InputArchive {
 public:
  InputArchive() = default;
  explicit InputArchive(IValue values) { take(std::move(values)); }

  void read(const std::string& key, IValue& value) const;
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  void read(const std::string& key, InputArchive& nested) const;
  bool try_read(const std::string& key, IValue& value) const;
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) const;
  bool try_read(const std::string& key, InputArchive& nested) const;
  std::vector<std::string> keys() const;
  const IValue::Dict& values() const { return values_; }
  template <class... Args>
  void operator()(Args&&... args) {
    read(std::forward<Args>(args)...);
  }
  template <class From>
  void load_from(From&& from) {
    take(io::load_value(std::forward<From>(from)));
  }
  template <class From>
  void load_from(From&& from, Device device) {
    IValue value = io::load_value(std::forward<From>(from));
    io::move_to(value, device);
    take(std::move(value));
  }
  void load_from(const char* data, size_t size) { take(io::load_value(data, size)); }
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read, const std::function<size_t()>& size) {
    take(io::load_value(read, size));
  }

 private:
  friend class nn::Module;
  void take(IValue value);
  IValue::Dict values_;
  bool is_part_ = false;  // of what a module above loads
};

// Holders and pointers are saved as what they hold.
template <class P>
requires requires(OutputArchive& archive, const P& p) { archive << *p; }
OutputArchive& operator<<(OutputArchive& archive, const P& p) { return archive << *p; }
template <class P>
requires requires(InputArchive& archive, P& p) { archive >> *p; }
InputArchive& operator>>(InputArchive& archive, P&& p) { return archive >> *p; }

}  // namespace serialize

namespace io {

template <class T>
concept HasStateDict = requires(T& x) {
  x.state_dict();
};
template <class T>
concept PointsToStateDict = !HasStateDict<T> && requires(T & x) {
  x->state_dict();
};
template <class T>
concept Stateful = HasStateDict<T> || PointsToStateDict<T>;

// Own operators or virtual save and load: what an archive takes. It goes before state_dict, which it may add to.
template <class T>
concept Archived = requires(serialize::OutputArchive& out, serialize::InputArchive& in, T& x) {
  out << std::as_const(x);
  in >> x;
};

template <Archived T>
IValue state_of(const T& x) {
  serialize::OutputArchive archive;
  archive << x;
  return archive.values();
}
template <Stateful T>
requires(!Archived<T>) IValue state_of(const T& x) {
  const auto state = [&] {
    if constexpr (HasStateDict<const T>)
      return x.state_dict();
    else if constexpr (HasStateDict<T>)
      return const_cast<T&>(x).state_dict();
    else
      return x->state_dict();
  }();
  if constexpr (std::is_constructible_v<IValue, decltype(state)>)
    return IValue(state);
  else
    return to_value(state);
}

// The dict of an archive, or an error that says what was found instead.
CRESSET_API serialize::InputArchive archive_of(const IValue& value);

template <Archived T>
void set_state(T& x, const IValue& value) {
  serialize::InputArchive archive = archive_of(value);
  archive >> x;
}
template <Stateful T>
requires(!Archived<T>) void set_state(T& x, const IValue& value) {
  auto into = [&](auto& object) {
    using State = std::decay_t<decltype(object.state_dict())>;
    if constexpr (std::is_same_v<State, OrderedDict<std::string, Tensor>>)
      object.load_state_dict(to_state_dict(value));
    else
      object.load_state_dict(value);
  };
  if constexpr (HasStateDict<T>)
    into(x);
  else
    into(*x);
}

inline IValue value_of(const IValue& value) { return value; }
inline IValue value_of(const Tensor& tensor) { return tensor; }
inline IValue value_of(const std::vector<Tensor>& tensors) { return tensors; }
inline IValue value_of(const OrderedDict<std::string, Tensor>& dict) { return to_value(dict); }
template <class T>
requires(Stateful<T> || Archived<T>) IValue value_of(const T& x) { return state_of(x); }

inline void set_value(IValue& x, IValue value) { x = std::move(value); }
CRESSET_API void set_value(Tensor& x, const IValue& value);
inline void set_value(OrderedDict<std::string, Tensor>& x, const IValue& value) { x = to_state_dict(value); }
CRESSET_API void set_value(std::vector<Tensor>& x, const IValue& value);
// Puts the file in front of what an error says.
CRESSET_API void add_place(Error& error, const std::string& path);
template <class T>
requires(Stateful<T> || Archived<T>) void set_value(T& x, const IValue& value) { set_state(x, value); }

// set_value, whose errors name the file where there is one.
template <class T, class From>
void set_value_from(const From& from, T& x, IValue value) {
  if constexpr (std::is_convertible_v<const From&, std::string>) {
    try {
      set_value(x, std::move(value));
    } catch (Error& error) {
      add_place(error, from);
      throw;
    }
  } else {
    set_value(x, std::move(value));
  }
}

}  // namespace io

// To a path, an ostream, a std::vector<char> or a function.
template <class T, class To>
void save(const T& x, To&& to) {
  io::save_value(io::value_of(x), std::forward<To>(to));
}

// From a path, an istream, or bytes. A device moves the tensors there first.
template <class T, class From>
requires(!std::is_same_v<std::decay_t<T>, const char*>) void load(T&& x, From&& from) {
  IValue value = io::load_value(from);
  io::set_value_from(from, x, std::move(value));
}
template <class T, class From>
void load(T&& x, From&& from, Device device) {
  IValue value = io::load_value(from);
  io::move_to(value, device);
  io::set_value_from(from, x, std::move(value));
}
template <class T>
void load(T&& x, const char* data, size_t size) {
  io::set_value(x, io::load_value(data, size));
}

template <class T, class Read, class Size>
requires(std::is_invocable_r_v<size_t, Read&, uint64_t, void*, size_t>&&
             std::is_invocable_r_v<size_t, Size&>) void load(T&& x, Read&& read, Size&& size) {
  io::set_value(x, io::load_value(read, size));
}

CRESSET_API std::vector<char> pickle_save(const IValue& value);
CRESSET_API IValue pickle_load(const std::vector<char>& data);

}  // namespace cresset
