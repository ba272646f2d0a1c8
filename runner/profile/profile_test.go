package profile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/profile"
	"graft/runner/worktest"
)

// Sizes beyond any machine are usage errors, reported together before any measurement.
func TestSizesAreBounded(t *testing.T) {
	for want, o := range map[string]profile.Options{
		"option threads is 1000000000": {Threads: 1_000_000_000}, "option rounds is -1": {Rounds: -1},
		"option classes is 1000000000":                                   {Classes: 1_000_000_000},
		`option "input" 3x100000x100000: a batch has 30000000000 values`: {Input: "3x100000x100000"},
		"a batch has 3072000000 values":                                  {Batches: []int{64, 1_000_000}},
		"option rounds is 2000000; must be between 0 (the default) and 1000000\n" +
			`option "input": "3x"`: {Rounds: 2_000_000, Input: "3x"},
	} {
		_, err := profile.Measure(t.Context(), worktest.Env(files.OS{}), []string{"ConvNet2"}, o)
		require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err), want)
		require.ErrorContains(t, err, want)
	}
}
