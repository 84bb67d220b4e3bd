// The room's one public header.
#pragma once

#include "cresset/monitor/profiler.h"
#include "cresset/monitor/progress_bar.h"
#include "cresset/monitor/summary_writer.h"
