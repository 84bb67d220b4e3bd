// Gloo's headers of its TCP pairs include this file, which its packages leave out. Only the size of these types is
// needed here, to derive from a pair: each of them holds one of the standard library's pointers.
#pragma once

#if __has_include_next("gloo/common/memory.h")
#include_next "gloo/common/memory.h"
#else

#include <memory>

namespace gloo {

template <class T>
class NonOwningPtr {
  std::shared_ptr<T> pointer_;
};

template <class T>
class WeakNonOwningPtr {
  std::weak_ptr<T> pointer_;
};

template <class T>
class ShareableNonOwningPtr {
  std::shared_ptr<T> pointer_;
};

}  // namespace gloo

#endif
