// Everything of nn that users write.
#pragma once

#include "cresset/nn/any_module.h"
#include "cresset/nn/cloneable.h"
#include "cresset/nn/enums.h"
#include "cresset/nn/init.h"
#include "cresset/nn/module.h"
