// Every layer and loss as a module.
#pragma once

#include "cresset/nn/layers/activation.h"
#include "cresset/nn/layers/adaptive.h"
#include "cresset/nn/layers/conv.h"
#include "cresset/nn/layers/distance.h"
#include "cresset/nn/layers/dropout.h"
#include "cresset/nn/layers/embedding.h"
#include "cresset/nn/layers/fold.h"
#include "cresset/nn/layers/lazy.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/nn/layers/loss.h"
#include "cresset/nn/layers/norm.h"
#include "cresset/nn/layers/padding.h"
#include "cresset/nn/layers/pool.h"
#include "cresset/nn/layers/upsample.h"
