package torch

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// alone is the environment variable of a process that tests how LibTorch opens.
const alone = "GRAFT_TEST_ALONE"

// long reports that tests may take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// TestMain prints one sentence if LibTorch cannot be loaded, in place of a failure in every test.
func TestMain(m *testing.M) {
	if os.Getenv(alone) == "" {
		if err := Load(); err != nil {
			fmt.Fprintln(os.Stderr, "torch: nothing can be tested:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// The go command caches a result until a file or variable that a test read changes. It does not see what TestMain or
// the loader reads, so this test reads the library's path.
func TestResultsDependOnTheLibrary(t *testing.T) {
	path, err := find()
	require.NoError(t, err)
	require.Equal(t, LibraryPath(), path)
}
