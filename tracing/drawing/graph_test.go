package drawing

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
)

func drawGraph(t *testing.T, name string) ([]byte, *graphReader) {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, GraphSVG(&b, n.Graph))
	r, err := readRows(n.Graph)
	require.NoError(t, err)
	return b.Bytes(), r
}

func TestDrawingsOfGraphsAreTheGoldenOnes(t *testing.T) {
	for _, name := range []string{"CharGPT", "SmallLLaMA"} {
		got, _ := drawGraph(t, name)
		path := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "look at the drawing, then write it again with -update")
	}
}

// Drawings of all graphs of the zoo have separate boxes on the page, and every parameter in one of them. Each box has
// an input, except boxes that make constants.
func TestDrawingsOfGraphsAreWhole(t *testing.T) {
	for _, e := range model.ZooEntries() {
		if !e.IsGraph() {
			continue
		}
		text, r := drawGraph(t, e.Name)
		root := decode(t, text)
		page := root.every("rect")[0].area()
		boxes, frames := shown(root)
		for k, a := range boxes {
			require.True(t, page.holds(a), "%s: %v", e.Name, a)
			for _, b := range boxes[:k] {
				require.False(t, a.meets(b), "%s: %v and %v", e.Name, a, b)
			}
			for _, f := range frames {
				require.True(t, f.holds(a) || !f.meets(a), "%s: %v and the frame %v", e.Name, a, f)
			}
		}
		parameters := 0
		for _, row := range r.rows {
			parameters += row.parameters
			require.True(t, len(row.from) > 0 || !row.plus, "%s: %s", e.Name, row.path)
		}
		require.Equal(t, r.g.Parameters(), parameters, e.Name)
		sections, at := r.sections()
		drawn := 0
		for _, s := range sections {
			drawn += (s.last - s.first + 1) * s.alike
			if s.alike > 1 {
				require.Contains(t, string(text), fmt.Sprintf("%d alike", s.alike))
			}
		}
		require.Equal(t, len(r.rows), drawn, e.Name)
		for k, row := range r.rows {
			require.Equal(t, row.head, r.rows[at[k]].head)
			require.LessOrEqual(t, at[k], k)
		}
		for _, link := range root.every("path") {
			require.NotContains(t, link.Class, "ribbon", "a graph has no channel spaces")
		}
		require.Equal(t, 1, strings.Count(string(text), ">output<"))
	}
}

// Items of a list that differ are drawn separately.
func TestItemsThatDifferAreDrawn(t *testing.T) {
	_, r := drawGraph(t, "ViTTiny32")
	sections, _ := r.sections()
	require.Len(t, sections, 3)
	require.Equal(t, 12, sections[1].alike)
	r.rows[sections[1].first+20].text = "another"
	sections, _ = r.sections()
	require.Greater(t, len(sections), 3)
}
