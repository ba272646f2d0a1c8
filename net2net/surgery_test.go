package net2net_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/net2net"
	"graft/net2net/surgerytest"
	"graft/torch"
)

// checks is how many networks each operation is tried on.
const checks = "600"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := torch.Load(); err != nil {
		fmt.Fprintln(os.Stderr, "net2net: nothing can be tested:", err)
		os.Exit(1)
	}
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.checks", checks)
	}
	os.Exit(m.Run())
}

// Every operation that there is, and all that will be, runs through the suite.
func TestConformance(t *testing.T) {
	require.NoError(t, torch.SetThreads(1)) // small networks
	for _, kind := range net2net.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { surgerytest.Check(t, surgerytest.Any(kind)) })
		})
	}
}
