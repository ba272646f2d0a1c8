package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEditDistances(t *testing.T) {
	for pair, want := range map[[2]string]int{{"", "abc"}: 3, {"budget", "budgte"}: 1, {"sgd", "adam"}: 4,
		{"seed", "sed"}: 1, {"ab", "ab"}: 0} {
		assert.Equal(t, want, editDistance(pair[0], pair[1]), pair)
		assert.Equal(t, want, editDistance(pair[1], pair[0]), pair)
	}
}

func TestGuesses(t *testing.T) {
	names := []string{"fifo", "srtf", "tiresias"}
	for name, want := range map[string]string{"SRTF": "srtf", "fofo": "fifo", "Tire": "tiresias", "x": "",
		"": "", strings.Repeat("a", 200): ""} {
		assert.Equal(t, want, Nearest(name, names), name)
	}
	assert.Equal(t, "; did you mean fifo?", Guess("fif", names))
	assert.Empty(t, Guess("goodput", names))
}
