//go:build graftdebug

package torch

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDroppedScopeRaisesTheAlarm(t *testing.T) {
	stacks := make(chan string, 1)
	was := OnLeak
	OnLeak = func(stack string) { stacks <- stack }
	defer func() { OnLeak = was }()
	dropScope()
	deadline := time.After(5 * time.Minute)
	for {
		runtime.GC()
		select {
		case stack := <-stacks:
			require.Contains(t, stack, "dropScope")
			return
		case <-deadline:
			t.Fatal("no alarm in five minutes")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

//go:noinline
func dropScope() { NewScope() }
