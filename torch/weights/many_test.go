package weights_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// empty returns a safetensors file of tensors without items.
func empty(tensors int) []byte {
	entries := make([]string, tensors)
	for k := range entries {
		entries[k] = fmt.Sprintf(`"t%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`, k)
	}
	return safe("{"+strings.Join(entries, ",")+"}", "")
}

// The number of allocations for a file is proportional to its number of tensors, which is limited.
func TestManyEmptyTensors(t *testing.T) {
	allocated := func(tensors int) uint64 {
		data := empty(tensors)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		set, err := readBytes(data, weights.Options{})
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Len(t, set.Tensors, tensors)
		return after.Mallocs - before.Mallocs
	}
	assert.Less(t, allocated(8000), 5*allocated(2000), "four times as many tensors, about four times the work")
	_, err := readBytes(empty(1<<16+1), weights.Options{})
	assert.ErrorContains(t, err, "more tensors than Options.MaxTensors = 65536")
}
