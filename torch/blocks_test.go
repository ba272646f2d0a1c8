package torch

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocksVariable marks the process of TestLargeBlocksAreKept, in which no other test keeps blocks.
const blocksVariable = "GRAFT_TEST_BLOCKS"

// A large block of memory is kept when it is freed. Blocks that no longer fit are returned, so that kept blocks need at
// most a quarter more memory than the largest one.
func TestLargeBlocksAreKept(t *testing.T) {
	if os.Getenv(blocksVariable) == "" {
		p := exec.Command(os.Args[0], "-test.run", "^TestLargeBlocksAreKept$")
		p.Env = append(os.Environ(), blocksVariable+"=1", "GRAFT_KEEP_BLOCKS=1")
		out, err := p.CombinedOutput()
		require.NoError(t, err, string(out))
		return
	}
	const mib, other = 1 << 20, 40 // other is the memory that the rest of the process may take or return meanwhile
	within(t, func(s *Scope) { s.Zeros(Float32, CPU, 1) })
	before := residentMB(t)
	for size := 100; size <= 400; size += 100 {
		within(t, func(s *Scope) { s.Zeros(Float32, CPU, size*mib/4) })
		grown := residentMB(t) - before
		require.Greater(t, grown, float64(size-other))
		require.Less(t, grown, 1.25*float64(size)+other)
	}
}
