// The room's one public header.
#pragma once

#include "cresset/io/checkpoint.h"
#include "cresset/io/npy.h"
#include "cresset/io/pt.h"
#include "cresset/io/safetensors.h"
#include "cresset/io/serialize.h"
