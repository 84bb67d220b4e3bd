// Every op family.
#pragma once

#include "cresset/ops/cat.h"
#include "cresset/ops/conv.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/index.h"
#include "cresset/ops/loss.h"
#include "cresset/ops/math.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/random.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/softmax.h"
#include "cresset/ops/sort.h"
#include "cresset/ops/special.h"
#include "cresset/ops/tensor_literal.h"
