// Distributed training: include this one.
#pragma once

#include "cresset/distributed/collectives.h"
#include "cresset/distributed/file_store.h"
#include "cresset/distributed/flight_recorder.h"
#include "cresset/distributed/hash_store.h"
#include "cresset/distributed/process_group.h"
#include "cresset/distributed/store.h"
#include "cresset/distributed/tcp_store.h"
#include "cresset/distributed/work.h"
