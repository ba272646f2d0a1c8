package fleet

import (
	"os"
	"testing"
	"time"
)

// long runs the tests that take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// patience limits waits; a busy machine may take minutes.
const patience = 5 * time.Minute

// asToy runs the binary as a process of the conformance suite, if it was started as one. The tests of package
// fleet_test set it.
var asToy func(Clock) (code int, ok bool)

// after holds the functions to run after all tests.
var after []func()

func TestMain(m *testing.M) {
	if code, ok := asToy(NewClock(time.Now)); ok {
		os.Exit(code)
	}
	code := m.Run()
	for _, f := range after {
		f()
	}
	os.Exit(code)
}
