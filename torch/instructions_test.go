package torch

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Instructions can be chosen only before LibTorch opens. The test runs in a process of its own.
func TestInstructionsAreChosenBeforeLibTorchOpens(t *testing.T) {
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	require.ErrorContains(t, LimitTo("sse"), "unknown instructions; expected native or avx2")
	require.NoError(t, LimitTo(Native))
	if err := LimitTo(AVX2); err != nil {
		require.ErrorContains(t, err,
			`this processor does not support these instructions; set run.instructions = "native"`)
		return
	}
	r, err := Describe()
	require.NoError(t, err)
	require.Equal(t, "AVX2", r.Vectors)
	require.Equal(t, AVX2, ComputesWith())
	require.NoError(t, LimitTo(AVX2))
	require.ErrorContains(t, LimitTo(Native), "this process already uses avx2; run jobs with different "+
		"instructions in separate processes")
}
