package torch

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// alone is set in the process of a test that is about opening LibTorch.
const alone = "GRAFT_TEST_ALONE"

// long is set where tests may take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// One sentence in place of a failure in every test.
func TestMain(m *testing.M) {
	if os.Getenv(alone) == "" {
		if err := Load(); err != nil {
			fmt.Fprintln(os.Stderr, "torch: nothing can be tested:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// The go command keeps a result until a file or variable that a test looked at
// changes, and does not see what TestMain or the loader look at.
func TestResultsDependOnTheLibrary(t *testing.T) {
	path, err := find()
	require.NoError(t, err)
	require.Equal(t, LibraryPath(), path)
}
