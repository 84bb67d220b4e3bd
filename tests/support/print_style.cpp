// Tests see Cresset's own printing, although some of a program's tests include torch.h; those that want libtorch's form
// set it themselves.
#include <gtest/gtest.h>

#include "cresset/core/print.h"

namespace cresset {
namespace {

class OwnPrintStyle : public testing::Environment {
 public:
  void SetUp() override { set_print_style(PrintStyle::python); }
};
[[maybe_unused]] const testing::Environment* const own_print_style =
    testing::AddGlobalTestEnvironment(new OwnPrintStyle);

}  // namespace
}  // namespace cresset
