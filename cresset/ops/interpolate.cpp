// Resizing. All modes are one linear map along each dimension in turn, so one kernel and its adjoint serve them all,
// and each is the other's gradient.
#include "cresset/ops/interpolate.h"

#include <array>
#include <cmath>

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"

namespace cresset {
namespace {

struct Plan {
  Resampling how;
  bool align_corners = false;
  std::array<double, 3> factors{};  // depth, height, width; 0: none given
};

Tensor resample(const Into& into, const char* op, const char* node, const Tensor& x, IntArrayRef sizes,
                const Plan& plan);

// The adjoint, into shape `sizes`. Its own adjoint is the map again.
Tensor resample_back(const char* node, const Tensor& g, IntArrayRef sizes, const Plan& plan) {
  Tensor dx = empty_contiguous(sizes, g.dtype(), g.device());
  const auto& [d, h, w] = plan.factors;
  resample_backward_kernel(dx, g, static_cast<int64_t>(plan.how), plan.align_corners, d, h, w);
  return differentiable(node, dx, inputs(g), saved(), [node, plan, to = KeptDims(g.sizes())](const Tensor& gg, Wants) {
    return grads(resample({}, "interpolate", node, gg, IntArrayRef(to), plan));
  });
}

Tensor resample(const Into& into, const char* op, const char* node, const Tensor& x, IntArrayRef sizes,
                const Plan& plan) {
  // Channels-last stays so, but for cubics: as PyTorch 1.13's.
  const bool cubic = plan.how == Resampling::cubic || plan.how == Resampling::cubic_smooth;
  const MemoryFormat format = cubic ? MemoryFormat::Contiguous : x.suggest_memory_format();
  Tensor y = into.fresh() ? empty(sizes, TensorOptions(x.dtype()).device(x.device()), format)
                          : result(op, into, sizes, x.dtype(), x.device(), {&x});
  const auto& [d, h, w] = plan.factors;
  resample_kernel(y, x, static_cast<int64_t>(plan.how), plan.align_corners, d, h, w);
  return differentiable(node, into, y, inputs(x), saved(),
                        [node, plan, from = KeptDims(x.sizes())](const Tensor& g, Wants) {
                          return grads(resample_back(node, g, from, plan));
                        });
}

Dims full_size(const char* op, const Tensor& x, IntArrayRef output_size, int rank, bool whole_numbers) {
  CRESSET_CHECK_AS(ShapeError, static_cast<int>(output_size.size()) == rank, op,
                   ": It is expected output_size equals to ", rank, ", but got size ", output_size.size());
  CRESSET_CHECK_AS(ShapeError, x.dim() == rank + 2, op, ": It is expected input_size equals to ", rank + 2,
                   ", but got size ", x.dim());
  CRESSET_CHECK_AS(TypeError, x.is_floating_point() || (whole_numbers && x.dtype() == kByte), op,
                   ": not implemented for '", toString(x.dtype()), "' (expected a floating point input",
                   whole_numbers ? " or uint8)" : ")");
  Dims sizes{x.size(0), x.size(1)};
  for (int i = 0; i < rank; i++) {
    const int64_t from = x.size(i + 2), to = output_size[static_cast<size_t>(i)];
    CRESSET_CHECK_AS(ShapeError, from > 0 && to > 0, op,
                     ": Input and output sizes should be greater than 0, but got input ", text_of(x.sizes()),
                     " and output size ", text_of(output_size));
    sizes.push_back(to);
  }
  CRESSET_CHECK_AS(ShapeError, x.size(1) != 0 || x.numel() != 0 || x.size(0) == 0, op, ": Non-empty ", rank + 2,
                   "D data tensor expected but got a tensor with sizes ", text_of(x.sizes()));
  return sizes;
}
Tensor upsampled(const Into& into, const char* op, const char* node, const Tensor& x, IntArrayRef output_size, int rank,
                 const Plan& plan) {
  const bool copies = plan.how == Resampling::nearest || plan.how == Resampling::nearest_exact;
  return resample(into, op, node, x, full_size(op, x, output_size, rank, copies), plan);
}

using ScaleFactor = std::optional<double>;
double given(const ScaleFactor& factor) { return factor.value_or(0); }

}  // namespace

#define CRESSET_PARAMETERS_1D (const Tensor& self, IntArrayRef output_size, std::optional<double> scales)
#define CRESSET_PARAMETERS_2D \
  (const Tensor& self, IntArrayRef output_size, std::optional<double> scales_h, std::optional<double> scales_w)
#define CRESSET_PARAMETERS_3D                                                                                   \
  (const Tensor& self, IntArrayRef output_size, std::optional<double> scales_d, std::optional<double> scales_h, \
   std::optional<double> scales_w)
#define CRESSET_ALIGNED_2D                                                                          \
  (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_h, \
   std::optional<double> scales_w)
#define CRESSET_ALIGNED_3D                                                                          \
  (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales_d, \
   std::optional<double> scales_h, std::optional<double> scales_w)

// ---- nearest
static Tensor upsample_nearest1d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor w) {
  return upsampled(into, "upsample_nearest1d", "UpsampleNearest1DBackward0", self, size, 1,
                   {Resampling::nearest, false, {0, 0, given(w)}});
}
static Tensor upsample_nearest2d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor h,
                                      ScaleFactor w) {
  return upsampled(into, "upsample_nearest2d", "UpsampleNearest2DBackward0", self, size, 2,
                   {Resampling::nearest, false, {0, given(h), given(w)}});
}
static Tensor upsample_nearest3d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor d,
                                      ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "upsample_nearest3d", "UpsampleNearest3DBackward0", self, size, 3,
                   {Resampling::nearest, false, {given(d), given(h), given(w)}});
}
static Tensor _upsample_nearest_exact1d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor w) {
  return upsampled(into, "_upsample_nearest_exact1d", "UpsampleNearestExact1DBackward0", self, size, 1,
                   {Resampling::nearest_exact, false, {0, 0, given(w)}});
}
static Tensor _upsample_nearest_exact2d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor h,
                                             ScaleFactor w) {
  return upsampled(into, "_upsample_nearest_exact2d", "UpsampleNearestExact2DBackward0", self, size, 2,
                   {Resampling::nearest_exact, false, {0, given(h), given(w)}});
}
static Tensor _upsample_nearest_exact3d_into(const Into& into, const Tensor& self, IntArrayRef size, ScaleFactor d,
                                             ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "_upsample_nearest_exact3d", "UpsampleNearestExact3DBackward0", self, size, 3,
                   {Resampling::nearest_exact, false, {given(d), given(h), given(w)}});
}
#define CRESSET_UPSAMPLE_1D(forms, name, doc) \
  forms(name, , CRESSET_PARAMETERS_1D, (self, output_size, scales), "input, output_size, scales=std::nullopt", doc)
#define CRESSET_UPSAMPLE_2D(forms, name, doc)                                   \
  forms(name, , CRESSET_PARAMETERS_2D, (self, output_size, scales_h, scales_w), \
        "input, output_size, scales_h=std::nullopt, scales_w=std::nullopt", doc)
#define CRESSET_UPSAMPLE_3D(forms, name, doc)                                             \
  forms(name, , CRESSET_PARAMETERS_3D, (self, output_size, scales_d, scales_h, scales_w), \
        "input, output_size, scales_d=std::nullopt, scales_h=std::nullopt, scales_w=std::nullopt", doc)
CRESSET_UPSAMPLE_1D(CRESSET_FORMS_OUT, upsample_nearest1d, "Resizes one dimension, taking the nearest element.")
CRESSET_UPSAMPLE_2D(CRESSET_FORMS_OUT, upsample_nearest2d, "Resizes two dimensions, taking the nearest element.")
CRESSET_UPSAMPLE_3D(CRESSET_FORMS_OUT, upsample_nearest3d, "Resizes three dimensions, taking the nearest element.")
CRESSET_UPSAMPLE_1D(CRESSET_FUNCTION_FORM, _upsample_nearest_exact1d,
                    "Resizes one dimension, taking the element nearest to each middle.")
CRESSET_UPSAMPLE_2D(CRESSET_FUNCTION_FORM, _upsample_nearest_exact2d,
                    "Resizes two dimensions, taking the element nearest to each middle.")
CRESSET_UPSAMPLE_3D(CRESSET_FUNCTION_FORM, _upsample_nearest_exact3d,
                    "Resizes three dimensions, taking the element nearest to each middle.")

// ---- linear and cubic
static Tensor upsample_linear1d_into(const Into& into, const Tensor& self, IntArrayRef size, bool align,
                                     ScaleFactor w) {
  return upsampled(into, "upsample_linear1d", "UpsampleLinear1DBackward0", self, size, 1,
                   {Resampling::linear, align, {0, 0, given(w)}});
}
static Tensor upsample_bilinear2d_into(const Into& into, const Tensor& self, IntArrayRef size, bool align,
                                       ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "upsample_bilinear2d", "UpsampleBilinear2DBackward0", self, size, 2,
                   {Resampling::linear, align, {0, given(h), given(w)}});
}
static Tensor upsample_bicubic2d_into(const Into& into, const Tensor& self, IntArrayRef size, bool align, ScaleFactor h,
                                      ScaleFactor w) {
  return upsampled(into, "upsample_bicubic2d", "UpsampleBicubic2DBackward0", self, size, 2,
                   {Resampling::cubic, align, {0, given(h), given(w)}});
}
static Tensor upsample_trilinear3d_into(const Into& into, const Tensor& self, IntArrayRef size, bool align,
                                        ScaleFactor d, ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "upsample_trilinear3d", "UpsampleTrilinear3DBackward0", self, size, 3,
                   {Resampling::linear, align, {given(d), given(h), given(w)}});
}
static Tensor _upsample_bilinear2d_aa_into(const Into& into, const Tensor& self, IntArrayRef size, bool align,
                                           ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "_upsample_bilinear2d_aa", "UpsampleBilinear2DAaBackward0", self, size, 2,
                   {Resampling::linear_smooth, align, {0, given(h), given(w)}});
}
static Tensor _upsample_bicubic2d_aa_into(const Into& into, const Tensor& self, IntArrayRef size, bool align,
                                          ScaleFactor h, ScaleFactor w) {
  return upsampled(into, "_upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0", self, size, 2,
                   {Resampling::cubic_smooth, align, {0, given(h), given(w)}});
}
CRESSET_FORMS_OUT(upsample_linear1d, ,
                  (const Tensor& self, IntArrayRef output_size, bool align_corners, std::optional<double> scales),
                  (self, output_size, align_corners, scales), "input, output_size, align_corners, scales=std::nullopt",
                  "Resizes one dimension by linear interpolation.")
#define CRESSET_INTERPOLATE_2D(forms, name, doc)                                            \
  forms(name, , CRESSET_ALIGNED_2D, (self, output_size, align_corners, scales_h, scales_w), \
        "input, output_size, align_corners, scales_h=std::nullopt, scales_w=std::nullopt", doc)
CRESSET_INTERPOLATE_2D(CRESSET_FORMS_OUT, upsample_bilinear2d, "Resizes two dimensions by linear interpolation.")
CRESSET_INTERPOLATE_2D(CRESSET_FORMS_OUT, upsample_bicubic2d, "Resizes two dimensions by cubic interpolation.")
CRESSET_INTERPOLATE_2D(CRESSET_FUNCTION_FORM, _upsample_bilinear2d_aa,
                       "Resizes two dimensions by linear interpolation, smoothed where they shrink.")
CRESSET_INTERPOLATE_2D(CRESSET_FUNCTION_FORM, _upsample_bicubic2d_aa,
                       "Resizes two dimensions by cubic interpolation, smoothed where they shrink.")
CRESSET_FORMS_OUT(upsample_trilinear3d, , CRESSET_ALIGNED_3D,
                  (self, output_size, align_corners, scales_d, scales_h, scales_w),
                  "input, output_size, align_corners, scales_d=std::nullopt, scales_h=std::nullopt, "
                  "scales_w=std::nullopt",
                  "Resizes three dimensions by linear interpolation.")

// ---- interpolate
namespace {

struct Mode {
  std::string_view name;
  int64_t dims;  // spatial dimensions, 0: any
  Resampling how;
};
constexpr Mode modes_known[] = {{"nearest", 0, Resampling::nearest}, {"nearest-exact", 0, Resampling::nearest_exact},
                                {"area", 0, Resampling::area},       {"linear", 1, Resampling::linear},
                                {"bilinear", 2, Resampling::linear}, {"bicubic", 2, Resampling::cubic},
                                {"trilinear", 3, Resampling::linear}};

Tensor interpolated(const Tensor& x, OptionalIntArrayRef size, ArrayRef<double> scale_factor,
                    std::string_view mode_name, std::optional<bool> align_corners,
                    std::optional<bool> recompute_scale_factor, bool antialias) {
  const int64_t rank = x.dim() - 2;
  CRESSET_CHECK_AS(ShapeError, rank >= 1 && rank <= 3,
                   "interpolate: Input Error: Only 3D, 4D and 5D input Tensors supported (got ", x.dim(), "D)");
  const Mode* mode = nullptr;
  for (const Mode& known : modes_known)
    if (known.name == mode_name) mode = &known;
  CRESSET_CHECK_AS(ValueError, mode, "interpolate: mode \"", mode_name,
                   "\" (expected nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area)");
  CRESSET_CHECK_AS(ShapeError, mode->dims == 0 || mode->dims == rank, "interpolate: Got ", x.dim(), "D input, but ",
                   mode_name, " mode needs ", mode->dims + 2, "D input");
  CRESSET_CHECK_AS(ValueError, mode->dims != 0 || !align_corners, "interpolate: align_corners option can only be set ",
                   "with the interpolating modes: linear | bilinear | bicubic | trilinear");
  CRESSET_CHECK_AS(ValueError, size || !scale_factor.empty(),
                   "interpolate: either size or scale_factor should be defined");
  CRESSET_CHECK_AS(ValueError, !size || scale_factor.empty(),
                   "interpolate: only one of size or scale_factor should be defined");
  CRESSET_CHECK_AS(ValueError, !antialias || (rank == 2 && mode->dims == 2),
                   "interpolate: Anti-alias option is only supported for bilinear and bicubic modes");
  CRESSET_CHECK_AS(ValueError, !recompute_scale_factor.value_or(false) || !size,
                   "interpolate: recompute_scale_factor is not meaningful with an explicit size.");
  const size_t count = size ? size->size() : scale_factor.size();
  CRESSET_CHECK_AS(ShapeError, count == 1 || count == static_cast<size_t>(rank),
                   "interpolate: ", size ? "size" : "scale_factor", " shape must match input shape. Input is ", rank,
                   "D, ", size ? "size" : "scale_factor", " size is ", count);
  Plan plan{mode->how, align_corners.value_or(false), {}};
  if (antialias) plan.how = mode->how == Resampling::linear ? Resampling::linear_smooth : Resampling::cubic_smooth;
  Dims wanted;
  for (int64_t i = 0; i < rank; i++) {
    const size_t at = count == 1 ? 0 : static_cast<size_t>(i);
    if (size) {
      wanted.push_back((*size)[at]);
      continue;
    }
    wanted.push_back(static_cast<int64_t>(std::floor(static_cast<double>(x.size(i + 2)) * scale_factor[at])));
    const bool by_size = recompute_scale_factor.value_or(false) || plan.how == Resampling::area;
    if (!by_size) plan.factors[static_cast<size_t>(3 - rank + i)] = scale_factor[at];
  }
  return upsampled({}, "interpolate", "UpsampleBackward0", x, wanted, static_cast<int>(rank), plan);
}

}  // namespace

static const Op& interpolate_op =
    define_op("interpolate",
              static_cast<Tensor (*)(const Tensor&, OptionalIntArrayRef, std::optional<double>, std::string_view,
                                     std::optional<bool>, std::optional<bool>, bool)>(&interpolate),
              "input, size=std::nullopt, scale_factor=std::nullopt, mode=\"nearest\", align_corners=std::nullopt, "
              "recompute_scale_factor=std::nullopt, antialias=false",
              "Resizes all dimensions but batch and channels, to a size or by a factor.", {.where = Where::function});
Tensor interpolate(const Tensor& input, OptionalIntArrayRef size, std::optional<double> scale_factor,
                   std::string_view mode, std::optional<bool> align_corners, std::optional<bool> recompute_scale_factor,
                   bool antialias) try {
  CRESSET_INTERCEPT(interpolate, , Tensor, input, size, scale_factor, mode, align_corners, recompute_scale_factor,
                    antialias);
  const ArrayRef<double> factors = scale_factor ? ArrayRef<double>(*scale_factor) : ArrayRef<double>();
  return interpolated(input, size, factors, mode, align_corners, recompute_scale_factor, antialias);
}
CRESSET_ERRORS_OF(interpolate, , input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)

Tensor interpolate(const Tensor& input, OptionalIntArrayRef size, const std::vector<double>& scale_factor,
                   std::string_view mode, std::optional<bool> align_corners, std::optional<bool> recompute_scale_factor,
                   bool antialias) {
  return interpolated(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias);
}

}  // namespace cresset
