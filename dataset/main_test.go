package dataset

import (
	"fmt"
	"os"
	"testing"

	"graft/torch"
)

// One message instead of a failure in every test.
func TestMain(m *testing.M) {
	if err := torch.Load(); err != nil {
		fmt.Fprintln(os.Stderr, "dataset: nothing can be tested:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
