// Everything a user of autograd needs.
#pragma once

#include "cresset/autograd/anomaly.h"
#include "cresset/autograd/engine.h"
#include "cresset/autograd/saved.h"
#include "cresset/autograd/variable.h"
