package figure_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results/figure"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden are the examples whose SVG is kept: small ones, a kind each.
var golden = []string{"timeline", "bars", "spent", "heat", "tree", "surgery"}

func render(t *testing.T, f figure.Figure, o figure.Options) []byte {
	var b bytes.Buffer
	require.NoError(t, figure.Render(&b, f, o))
	return b.Bytes()
}

func TestFiguresAreTheGoldenOnes(t *testing.T) {
	for name, f := range examples() {
		if !slices.Contains(golden, name) {
			continue
		}
		path := filepath.Join("testdata", name+".svg")
		drawn := render(t, f, figure.Options{Theme: map[bool]figure.Theme{true: figure.Page}[name == "spent"]})
		if *update {
			require.NoError(t, os.WriteFile(path, drawn, 0o644))
		}
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(kept), string(drawn), "%s is drawn otherwise; look at it, and if it is better run the test with -update", name)
	}
}

func TestNoLabelIsCutOrHidden(t *testing.T) {
	for name, f := range examples() {
		for _, width := range []float64{figure.Column / 2, figure.Column, figure.Wide} {
			if width < figure.Column && name == "surgery" {
				continue
			}
			require.Empty(t, f.Layout(width).Faults(), "%s at %.0f pt", name, width)
		}
	}
}

func TestEqualFiguresAreEqualFiles(t *testing.T) {
	for name, f := range examples() {
		for _, format := range figure.Formats() {
			o := figure.Options{Format: format, Width: figure.Wide, Theme: figure.Dark}
			if format == figure.PNG && name != "tree" && name != "timeline" {
				continue // the letters and lines of all others are the same
			}
			once, again := render(t, f, o), render(t, examples()[name], o)
			require.True(t, bytes.Equal(once, again), "%s as %s", name, format)
			require.NotContains(t, string(once), "(D:2", "%s as %s has a date", name, format)
		}
	}
}
