// All learning-rate schedulers.
#pragma once

#include "cresset/optim/schedulers/cosine_annealing_lr.h"
#include "cresset/optim/schedulers/cyclic_lr.h"
#include "cresset/optim/schedulers/lambda_lr.h"
#include "cresset/optim/schedulers/linear_lr.h"
#include "cresset/optim/schedulers/lr_scheduler.h"
#include "cresset/optim/schedulers/one_cycle_lr.h"
#include "cresset/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "cresset/optim/schedulers/sequential_lr.h"
#include "cresset/optim/schedulers/step_lr.h"
#include "cresset/optim/schedulers/swa_lr.h"
