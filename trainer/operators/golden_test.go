package operators

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
)

var update = flag.Bool("update", false, "write the golden predictions again")

// sameTime is the relative difference of predictions that differ only in the order of their sums.
const sameTime = 1e-12

// The operators and the predicted times of the zoo's networks equal the golden file. The first implementation, which
// formatted texts and interpolated point by point, wrote it.
func TestPredictionsAreGolden(t *testing.T) {
	const file = "testdata/predictions.txt"
	l := lawOf{rand.New(rand.NewPCG(1, 2))}
	p := NewDevicePredictor(l.device(t, 160))
	var lines []string
	for _, e := range model.ZooEntries() {
		n := zoo(t, e.Name)
		for _, path := range []Path{Program, Exact, Fast} {
			calls, err := path.calls(n, 24)
			require.NoError(t, err, e.Name)
			digest := fnv.New64a()
			for _, c := range calls {
				if path != Program {
					c.Shapes = "" // only traces need them
				}
				fmt.Fprintf(digest, "%+v\n", c)
			}
			lines = append(lines, fmt.Sprintf("%s %q %d %x", e.Name, path, len(calls), digest.Sum64()))
		}
		for _, rows := range []int{1, 24} {
			made, err := p.Predict(n, "", rows)
			require.NoError(t, err, e.Name)
			lines = append(lines, fmt.Sprintf("%s %d %.17g %.17g %.6f", e.Name, rows, made.Step, made.Forward,
				made.Between))
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, len(want))
	for k := range want {
		sameLine(t, want[k], lines[k])
	}
}

// sameLine compares two lines, whose times may differ by sameTime.
func sameLine(t *testing.T, want, got string) {
	a, b := strings.Fields(want), strings.Fields(got)
	if len(a) != 5 || len(b) != 5 {
		assert.Equal(t, want, got)
		return
	}
	for k := 2; k < 4; k++ {
		assert.InEpsilon(t, number(t, a[k]), number(t, b[k]), sameTime, want)
	}
	assert.Equal(t, []string{a[0], a[1], a[4]}, []string{b[0], b[1], b[4]})
}

func number(t *testing.T, text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return v
}
