// One translation unit for all that includes LibTorch: its headers cost more
// than our code does.
#include "augment.cc"
#include "fused.cc"
#include "learn.cc"
#include "ops.cc"
#include "optim.cc"
#include "peers.cc"
#include "program.cc"
#include "runtime.cc"
#include "shared_norm.cc"
#include "spread.cc"
#include "steady.cc"
#include "train.cc"
