package fabric_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain draws fewer cases for each property, except with GRAFT_LONG or -rapid.checks.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); os.Getenv("GRAFT_LONG") == "" && f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.checks", "30")
	}
	os.Exit(m.Run())
}
