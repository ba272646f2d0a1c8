#include "declared.h"
