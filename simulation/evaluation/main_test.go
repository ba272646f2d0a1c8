package evaluation

import (
	"fmt"
	"os"
	"testing"

	"graft/torch"
)

func TestMain(m *testing.M) {
	if err := torch.Load(); err != nil {
		fmt.Fprintln(os.Stderr, "simulation/evaluation: nothing can be tested:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
