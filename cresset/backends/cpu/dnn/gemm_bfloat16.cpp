// Products of bfloat16 matrices by oneDNN, where the CPU has instructions for them (twice the speed of float). Sums are
// float's and are rounded once. Primitives take long to make, so the latest ones are kept, by shape and layout.
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dnnl.hpp>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cresset/backends/cpu/dnn/gemm.h"
#include "cresset/backends/cpu/dnn/library_call.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

using dnnl::memory;

// Leaf 7 of cpuid.
struct Features {
  bool bfloat16 = false, tiles = false;
  Features() {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    tiles = d >> 22 & 1;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) bfloat16 = a >> 5 & 1;
#endif
  }
};
const Features features;

// oneDNN before 2.7 dies in its tile kernels (SIGILL). The limit holds for the whole process and must come before the
// first primitive; a setting of the user's stays.
[[maybe_unused]] const bool limited = [] {
  const dnnl_version_t* version = dnnl_version();
  const bool old = version->major < 2 || (version->major == 2 && version->minor < 7);
  if (features.tiles && old && !std::getenv("DNNL_MAX_CPU_ISA") && !std::getenv("ONEDNN_MAX_CPU_ISA"))
    dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
  return true;
}();

const dnnl::engine& engine() {
  static const auto* one = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *one;
}

struct Product {
  memory::desc a, b, out, scratchpad;
  dnnl::matmul multiply;
};

using Key = std::vector<int64_t>;
struct HashKey {
  size_t operator()(const Key& key) const {
    size_t hash = key.size();
    for (int64_t n : key) hash = (hash ^ static_cast<size_t>(n)) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
  }
};

memory::desc desc_of(const Matrix& m, const BlasMatrix& layout, int64_t batch, int64_t rows, int64_t cols) {
  const int64_t row = layout.transposed ? 1 : layout.lead, col = layout.transposed ? layout.lead : 1;
  if (batch == 1) return {{rows, cols}, memory::data_type::bf16, memory::dims{row, col}};
  return {{batch, rows, cols}, memory::data_type::bf16, memory::dims{m.batch, row, col}};
}

std::shared_ptr<const Product> product_for(const Gemm& g, const BlasMatrix& a, const BlasMatrix& b,
                                           const BlasMatrix& out) {
  static auto* mutex = new std::mutex;
  static auto* known = new std::unordered_map<Key, std::shared_ptr<const Product>, HashKey>;
  const bool adds = g.added.data != nullptr;
  const Key key{g.batch,      g.m,    g.n,          g.k,    g.a.batch,      g.b.batch, g.out.batch,
                a.transposed, a.lead, b.transposed, b.lead, out.transposed, out.lead,  adds};
  {
    std::lock_guard lock(*mutex);
    if (auto found = known->find(key); found != known->end()) return found->second;
  }
  auto made = std::make_shared<Product>();
  made->a = desc_of(g.a, a, g.batch, g.m, g.k);
  made->b = desc_of(g.b, b, g.batch, g.k, g.n);
  made->out = desc_of(g.out, out, g.batch, g.m, g.n);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (adds) {
    dnnl::post_ops post;
    post.append_sum(g.beta.toFloat());
    attr.set_post_ops(post);
  }
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(made->a, made->b, made->out), attr, engine());
  made->scratchpad = description.scratchpad_desc();
  made->multiply = dnnl::matmul(description);
  std::lock_guard lock(*mutex);
  if (known->size() >= 256) known->clear();
  known->emplace(key, made);
  return made;
}

}  // namespace

bool bfloat16_gemm(const Gemm& g) {
  if (!features.bfloat16 || !g.alpha.equal(1) || (g.added.data && !g.beta.equal(1))) return false;
  const BlasMatrix a = blas_matrix(g.a, g.m, g.k), b = blas_matrix(g.b, g.k, g.n), out = blas_matrix(g.out, g.m, g.n);
  if (!a.fits || !b.fits || !out.fits) return false;
  // A matrix that every product of the batch shares has a stride of zero, which oneDNN does not take.
  if (g.batch > 1 && (g.a.batch == 0 || g.b.batch == 0)) return false;
  const LibraryCall library;
  if (!library.allowed()) return false;
  const std::shared_ptr<const Product> product = product_for(g, a, b, out);
  const Scratch<char> scratchpad(static_cast<int64_t>(product->scratchpad.get_size()));
  dnnl::stream stream(engine());
  product->multiply.execute(stream, {{DNNL_ARG_SRC, memory(product->a, engine(), g.a.data)},
                                     {DNNL_ARG_WEIGHTS, memory(product->b, engine(), g.b.data)},
                                     {DNNL_ARG_DST, memory(product->out, engine(), g.out.data)},
                                     {DNNL_ARG_SCRATCHPAD, memory(product->scratchpad, engine(), scratchpad.get())}});
  stream.wait();
  return true;
}

}  // namespace cresset::cpu
