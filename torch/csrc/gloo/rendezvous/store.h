#include "../declared.h"
