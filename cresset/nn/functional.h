// Every layer and loss as a function, with libtorch's options: F::max_pool2d(x, F::MaxPool2dFuncOptions(2)).
#pragma once

#include "cresset/nn/functional/activation.h"
#include "cresset/nn/functional/conv.h"
#include "cresset/nn/functional/distance.h"
#include "cresset/nn/functional/dropout.h"
#include "cresset/nn/functional/embedding.h"
#include "cresset/nn/functional/fold.h"
#include "cresset/nn/functional/linear.h"
#include "cresset/nn/functional/loss.h"
#include "cresset/nn/functional/norm.h"
#include "cresset/nn/functional/padding.h"
#include "cresset/nn/functional/pool.h"
#include "cresset/nn/functional/upsample.h"
#include "cresset/ops/attention.h"

namespace cresset::nn::functional {
using cresset::scaled_dot_product_attention;
}
