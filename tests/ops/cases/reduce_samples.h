// Samples and references that the reductions, scans and sorts share.
#pragma once

#include "tests/support/op_case.h"

namespace cresset::test {

using Ints = std::vector<int64_t>;
using Line = std::vector<Complex>;

// Functions, since cases are made before the variables of other files.
inline std::vector<DType> complex_dtypes() { return {kComplex64, kComplex128}; }
inline std::vector<DType> ordered_dtypes() { return without(all_dtypes, {kComplex64, kComplex128}); }
inline std::vector<DType> whole_dtypes() { return {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool}; }

Complex total(const Line& values);
Complex average(const Line& values);
bool above(Complex a, Complex b);  // nan counts as the largest
Complex largest(const Line& values);
Complex smallest(const Line& values);  // nan, if there is one

// The first argument over all, or over the dims in the second, which the third keeps.
Reference over_all(Complex (*f)(const Line&));
Reference over_dims(Complex (*f)(const Line&));
// Each line of x along dim, through f; f may change its length.
Array along(const Array& x, int64_t dim, const std::function<Line(const Line&)>& f);
Array without_dim(Array x, int64_t dim);

// Lists of dims; `full`: nothing empty is reduced.
std::vector<Sample> full_dim_samples(Make& m);
std::vector<Sample> dim_samples(Make& m);
Samples without_gradient_of_nothing(Samples samples);
std::vector<Sample> full_samples(Make& m);
// One dim; picked_samples have a keepdim as well, and nothing empty.
std::vector<Sample> line_samples(Make& m);
std::vector<Sample> picked_samples(Make& m);
ErrorCase bad_dim(const std::string& op);

// The places of the k first in order; earlier places first among equals.
std::vector<size_t> first_places(const Line& line, size_t k, bool largest_first);
// Their values and those places.
std::vector<Array> picked(const Array& x, int64_t dim, size_t k, bool largest_first);

}  // namespace cresset::test
