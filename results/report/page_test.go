package report

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Heads of tables are names and units.
func TestHeadWords(t *testing.T) {
	for head, want := range map[string][2]string{"TIME [s]": {"Time", "s"}, "SEEDS": {"Seeds", ""}, "": {"", ""}, "rate-A": {"rate-A", ""}, "AFTER [%]": {"After", "%"}} {
		name, unit := headWords(head)
		require.Equal(t, want, [2]string{name, unit})
	}
	for text, want := range map[string]float64{"9.50 [9, 10] ~": 9.5, "1e-05": 1e-5, "-3": -3} {
		require.Equal(t, want, *leadingNumber(text))
	}
	for _, text := range []string{"-", "", "ended"} {
		require.Nil(t, leadingNumber(text))
	}
}

// Commands can be given to a shell as they stand.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"run.seed=1": "run.seed=1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''"} {
		require.Equal(t, want, shellWord(word))
	}
}
