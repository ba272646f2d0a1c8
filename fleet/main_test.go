package fleet

import (
	"os"
	"testing"
	"time"
)

// long runs the tests that take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// asToy is set by the tests of package fleet_test: the binary may have been started as
// a process of the conformance suite.
var asToy func(Clock) (code int, ok bool)

// after is run when all tests are.
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
