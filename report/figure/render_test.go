package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/report/figure"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden lists the examples with a stored SVG: small ones, one of each kind.
var golden = []string{"timeline", "bars", "spent", "heat", "tree", "surgery", "gantt", "stacked", "differences"}

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
		require.Equal(t, string(kept), string(drawn),
			"%s is drawn otherwise; look at it, and if it is better run the test with -update", name)
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
				continue // tree and timeline cover all letters and lines
			}
			once, again := render(t, f, o), render(t, examples()[name], o)
			require.True(t, bytes.Equal(once, again), "%s as %s", name, format)
			require.NotContains(t, string(once), "(D:2", "%s as %s has a date", name, format)
		}
	}
}

// Commands without figures must not load fonts. The root package of gonum's plot reads a dozen at start; the packages
// used here read them while drawing.
func TestNoFontIsReadAtStart(t *testing.T) {
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(list))
	require.Contains(t, packages, "gonum.org/v1/plot/vg/vgimg")
	require.NotContains(t, packages, "gonum.org/v1/plot")
}

func TestWhatCannotBeDrawnIsAnError(t *testing.T) {
	for name, o := range map[string]figure.Options{"no format": {Format: "gif"}, "no room": {Width: 20}} {
		require.Error(t, figure.Render(io.Discard, examples()["bars"], o), name)
	}
	broken := errors.New("the disk is full")
	for _, format := range figure.Formats() {
		require.ErrorIs(t, figure.Render(failing{broken}, examples()["spent"], figure.Options{Format: format}),
			broken, format)
	}
	require.ErrorContains(t, figure.Render(io.Discard, &figure.Tree{}, figure.Options{}), "draw a figure",
		"a panic is an error")
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Figures on pages use fixed colours only for quantities. Everything else follows the reader's preference.
func TestPagesFollowTheirReader(t *testing.T) {
	page := string(render(t, examples()["timeline"], figure.Options{Theme: figure.Page}))
	_, drawn, found := strings.Cut(page, "</style>")
	require.True(t, found)
	require.NotContains(t, drawn, `"#`)
	require.Contains(t, page, "prefers-color-scheme:dark")
	for _, name := range []string{"gantt", "surgery"} { // these have outlined areas
		page := string(render(t, examples()[name], figure.Options{Theme: figure.Page}))
		require.NotRegexp(t, `<[^>]* class="[^>]* class="`, page, name)
		require.Regexp(t, ` class="graft-line-\w+ graft-fill-\w+" fill-opacity="`, page, name)
	}
	dark := string(render(t, examples()["timeline"], figure.Options{Theme: figure.Dark}))
	require.NotContains(t, dark, "#ffffff")
}

// Names from outside do not become markup.
func TestNamesAreOnlyWords(t *testing.T) {
	b := &figure.Bars{Title: `"><script>`, X: figure.Axis{Name: "a & b", Unit: "<s>"},
		Groups: []figure.Group{{Name: "<script>é≥β\x00", Bars: []figure.Bar{{Value: 1}}}}}
	drawn := render(t, b, figure.Options{})
	require.NotContains(t, string(drawn), "<script")
	decoder := xml.NewDecoder(bytes.NewReader(drawn))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
	}
	require.Contains(t, string(render(t, b, figure.Options{Format: figure.PDF})), "%PDF")
}

// A chart can draw NaN, infinities, equal values and values of any size.
func TestOddValuesAreDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.OneOf(rapid.Float64(),
			rapid.SampledFrom([]float64{0, 1, 1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-12, 1e12}))
		x := rapid.SliceOfN(odd, 1, 20).Draw(t, "x")
		y := rapid.SliceOfN(odd, len(x), len(x)).Draw(t, "y")
		c := &figure.Chart{X: figure.Axis{Name: "x", Unit: "s"},
			Panels: []figure.Panel{{Y: figure.Axis{Name: "y", Unit: "%", Zero: rapid.Bool().Draw(t, "zero")},
				Curves: []figure.Curve{{Name: "a", X: x, Y: y, Low: y, High: y, Raw: [][]float64{y},
					Steps: rapid.Bool().Draw(t, "steps")}}}}}
		p := c.Layout(figure.Column)
		if faults := p.Faults(); len(faults) > 0 {
			t.Fatal(faults)
		}
		var b bytes.Buffer
		if err := figure.Render(&b, c, figure.Options{}); err != nil || strings.Contains(b.String(), "NaN") ||
			strings.Contains(b.String(), "Inf") {
			t.Fatal(err, b.String())
		}
	})
}
