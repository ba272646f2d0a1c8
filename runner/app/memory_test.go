package app_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/runner/app"
)

func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is known on Linux only")
	}
	before := app.PeakMemory(files.OS{})
	require.Greater(t, before, int64(1<<20))
	block := make([]byte, 2*before)
	for k := range block {
		block[k] = byte(k)
	}
	runtime.KeepAlive(block)
	require.Greater(t, app.PeakMemory(files.OS{}), 2*before)
}

func TestFreeMemory(t *testing.T) {
	require.Greater(t, app.FreeMemory(files.OS{}), int64(1<<20))
}
