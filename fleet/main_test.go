package fleet

import "flag"

var long = flag.Bool("long", false, "take the tests that take minutes")
