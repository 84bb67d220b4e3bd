// Distributed training: include this one.
#pragma once

#include "cresset/distributed/checkpoint.h"
#include "cresset/distributed/collectives.h"
#include "cresset/distributed/comm_hooks.h"
#include "cresset/distributed/ddp.h"
#include "cresset/distributed/drift.h"
#include "cresset/distributed/drift_watch.h"
#include "cresset/distributed/file_store.h"
#include "cresset/distributed/flight_recorder.h"
#include "cresset/distributed/hash_store.h"
#include "cresset/distributed/metrics.h"
#include "cresset/distributed/process_group.h"
#include "cresset/distributed/sampler.h"
#include "cresset/distributed/store.h"
#include "cresset/distributed/sync_batch_norm.h"
#include "cresset/distributed/tcp_store.h"
#include "cresset/distributed/work.h"
