package original

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows and logs of the original give an error or values, and the parser loses no line of a log.
func FuzzLegacy(f *testing.F) {
	f.Add("26,329.99497151374817,0.7194")
	f.Add("0,2.24,[1.0, 0.0]")
	f.Add("63,21178.0,None")
	f.Add("2023-12-15 00:55:59,463 | [INFO] : learning start time\nmore")
	f.Fuzz(func(t *testing.T, text string) {
		if row, err := parseRow(text); err == nil {
			require.False(t, row.Value.None && row.Value.Numbers != nil)
			require.True(t, !row.Value.Single || len(row.Value.Numbers) == 1)
		}
		total := 0
		for _, line := range parseLog([]byte(text)) {
			total += bytes.Count([]byte(line.Text), []byte("\n")) + 1
		}
		lines := 0
		for range bytes.Lines([]byte(text)) {
			lines++
		}
		require.Equal(t, lines, total)
	})
}
