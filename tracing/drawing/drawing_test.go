package drawing

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
	"graft/tracing"
)

var update = flag.Bool("update", false, "write the golden drawings again")

func conv(in, out int) *model.Leaf {
	c := model.NewConv2d(in, out, 3)
	c.Padding = model.Both(1)
	return &model.Leaf{Layer: c}
}

func leaf(l model.Layer) *model.Leaf { return &model.Leaf{Layer: l} }

// joined returns a container of modules with the names 0, 1, 2 and so on.
func joined(join model.Join, mark model.Mark, modules ...model.Module) *model.Container {
	c := &model.Container{Mark: mark, Flow: model.Flow{Join: join}}
	for k, m := range modules {
		c.Children = append(c.Children, model.Child{Name: strconv.Itoa(k), Module: m})
	}
	return c
}

func chain(modules ...model.Module) *model.Container {
	return joined(model.Chain, model.Unmarked, modules...)
}

func network(class string, modules ...model.Module) *model.Network {
	root := chain(modules...)
	root.Class = class
	return &model.Network{Root: root, Input: model.Shape{3, 16, 16}}
}

// residual returns a network with an identity shortcut, a shortcut with a layer, and each kind of block.
func residual() *model.Network {
	norm := func() *model.Leaf { return leaf(model.NewBatchNorm2d(8)) }
	relu := func() *model.Leaf { return leaf(model.Activate(torch.ReLU)) }
	block := joined(model.Sum, model.Original, conv(8, 8), norm(), relu(), conv(8, 8))
	other := joined(model.Sum, model.Unmarked, joined(model.Chain, model.Grown, conv(8, 8), relu()), conv(8, 8))
	other.Flow.Body, other.Flow.Shortcut = []string{"0"}, []string{"1"}
	return network("Residual", conv(3, 8), block, other, relu())
}

// branches returns a network with concatenations of layers, of edges and of one branch, and with nested joins.
func branches() *model.Network {
	edge := func() model.Module { return chain() }
	inception := joined(model.Cat, model.Unmarked, conv(8, 4),
		chain(conv(8, 6), leaf(model.NewBatchNorm2d(6)), conv(6, 12)), edge())
	inner := joined(model.Sum, model.Grown, conv(24, 24), conv(24, 24))
	outer := joined(model.Sum, model.Unmarked, chain(conv(24, 24)), chain(inner))
	outer.Flow.Body, outer.Flow.Shortcut = []string{"0"}, []string{"1"}
	empty := joined(model.Sum, model.Unmarked, edge())
	split := joined(model.Cat, model.Unmarked, joined(model.Cat, model.Unmarked, conv(48, 8), conv(48, 8)), conv(48, 8))
	return network(`Branches & <"joins">`+"\x01", conv(3, 8), inception, leaf(modeltest.GroupNorm(6, 24)), outer, empty,
		joined(model.Cat, model.Unmarked, edge(), edge()), joined(model.Chain, model.Original, split),
		joined(model.Cat, model.Unmarked, conv(24, 4)))
}

// wordy returns a network with names that fit nowhere.
func wordy() *model.Network {
	var m model.Module = conv(3, 8)
	for range 9 {
		m = &model.Container{Children: []model.Child{{Name: "a_name_that_fills_a_line", Module: m}}}
	}
	return network(strings.Repeat("Network", 20_000), m)
}

// deep returns a network of nested residuals.
func deep() *model.Network {
	var m model.Module = conv(3, 3)
	for range 40 {
		m = joined(model.Sum, model.Unmarked, m)
	}
	return network("Deep", m)
}

func networks(t *testing.T) map[string]*model.Network {
	all := map[string]*model.Network{"residual": residual(), "branches": branches(), "wordy": wordy(), "deep": deep(),
		"empty": network("Empty")}
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue
		}
		n, err := model.Zoo(e.Name, model.ZooOptions{})
		require.NoError(t, err)
		all[e.Name] = n
	}
	return all
}

func draw(t *testing.T, n *model.Network) ([]byte, *tracing.Trace) {
	trace, err := tracing.Read(n)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, SVG(&b, trace))
	return b.Bytes(), trace
}

func TestDrawingsAreTheGoldenOnes(t *testing.T) {
	all := networks(t)
	for _, name := range []string{"ConvNet2", "residual"} {
		got, _ := draw(t, all[name])
		path := filepath.Join("testdata", name+".svg")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "look at the drawing, then write it again with -update")
	}
}

// area is a rectangle.
type area struct{ left, top, right, bottom int }

func (a area) holds(b area) bool {
	return a.left <= b.left && a.top <= b.top && a.right >= b.right && a.bottom >= b.bottom
}

func (a area) meets(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// element is a part of the drawing as a reader parses it.
type element struct {
	XMLName  xml.Name
	X        int       `xml:"x,attr"`
	Y        int       `xml:"y,attr"`
	Width    int       `xml:"width,attr"`
	Height   int       `xml:"height,attr"`
	Size     int       `xml:"font-size,attr"`
	Anchor   string    `xml:"text-anchor,attr"`
	Class    string    `xml:"class,attr"`
	ViewBox  string    `xml:"viewBox,attr"`
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (e element) area() area {
	if e.XMLName.Local == "rect" {
		return area{e.X, e.Y, e.X + e.Width, e.Y + e.Height}
	}
	width := measure(e.Text, e.Size)
	for k, span := range e.Children { // the first span is bold
		width += measure(span.Text, e.Size)*(9-k)/8 + headGap*k
	}
	if e.Anchor == "end" {
		return area{e.X - width, e.Y - e.Size, e.X, e.Y + e.Size/3}
	}
	return area{e.X, e.Y - e.Size, e.X + width, e.Y + e.Size/3}
}

// every returns the elements with a name, at any depth.
func (e element) every(name string) []element {
	var found []element
	for _, child := range e.Children {
		if child.XMLName.Local == name {
			found = append(found, child)
		}
		found = append(found, child.every(name)...)
	}
	return found
}

func decode(t *testing.T, text []byte) element {
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "the drawing is XML from its first byte to its last")
	}
	var root element
	require.NoError(t, xml.Unmarshal(text, &root))
	return root
}

func TestDrawingsAreWhole(t *testing.T) {
	for name, n := range networks(t) {
		t.Run(name, func(t *testing.T) {
			text, trace := draw(t, n)
			root := decode(t, text)
			page := area{right: root.Width, bottom: root.Height}
			assert.Equal(t, "0 0 "+strconv.Itoa(root.Width)+" "+strconv.Itoa(root.Height), root.ViewBox)
			boxes, frames := shown(root)
			assert.Len(t, frames, len(trace.Blocks), "a frame for each block")
			for k, a := range boxes {
				assert.True(t, page.holds(a), "%v is on the page", a)
				for _, b := range boxes[:k] {
					assert.False(t, a.meets(b), "%v and %v do not overlap", a, b)
				}
				for _, f := range frames {
					assert.True(t, f.holds(a) || !f.meets(a), "%v is within the frame %v or outside", a, f)
				}
			}
			for _, text := range root.every("text") {
				assert.True(t, page.holds(text.area()), "%+v is on the page", text)
			}
		})
	}
}

// shown returns the boxes of layers, joins and ends, and the frames outside of the legend.
func shown(root element) (boxes, frames []area) {
	for _, r := range root.every("rect") {
		class, _, _ := strings.Cut(r.Class, " ")
		switch {
		case class == "layer", class == "join", class == "end":
			boxes = append(boxes, r.area())
		case class == "frame" && r.Width != swatch:
			frames = append(frames, r.area())
		}
	}
	return boxes, frames
}

func TestWordsStayInTheirBoxes(t *testing.T) {
	for name, n := range networks(t) {
		t.Run(name, func(t *testing.T) {
			text, trace := draw(t, n)
			layers := 0
			for _, group := range decode(t, text).every("g") {
				rects, texts := group.every("rect"), group.every("text")
				if len(rects) == 0 {
					continue // the sign of a sum
				}
				if strings.HasPrefix(rects[0].Class, "layer") {
					layers++
				}
				for k, a := range texts {
					assert.True(t, rects[0].area().holds(a.area()), "%+v is in %v", a, rects[0].area())
					for _, b := range texts[:k] {
						assert.False(t, a.area().meets(b.area()), "%+v and %+v do not overlap", a, b)
					}
				}
			}
			assert.Equal(t, len(trace.Layers), layers, "a box for each layer")
		})
	}
}

func TestEqualNetworksGiveEqualDrawings(t *testing.T) {
	first, _ := draw(t, branches())
	for range 5 {
		again, _ := draw(t, branches())
		assert.Equal(t, string(first), string(again))
	}
}

func TestDrawingsStandAlone(t *testing.T) {
	text, _ := draw(t, branches())
	drawing := strings.Replace(string(text), "http://www.w3.org/2000/svg", "", 1)
	for _, outside := range []string{"http:", "https:", "@import", "<image", "<script", "href"} {
		assert.NotContains(t, drawing, outside)
	}
	assert.Contains(t, drawing, `role="img"`)
	assert.Contains(t, drawing, "prefers-color-scheme:dark")
	assert.Contains(t, drawing, "<title id=\"title\">Branches &amp; &lt;&#34;joins&#34;&gt;")
	assert.Contains(t, drawing, "<desc id=\"description\">From an input of 3×16×16 to an output of 4×16×16")
}

func TestNeighbouringSpacesDifferInColour(t *testing.T) {
	for name, n := range networks(t) {
		trace, err := tracing.Read(n)
		require.NoError(t, err)
		chosen := paintSpaces(trace.Spaces)
		for s, others := range neighbours(trace.Spaces) {
			for _, other := range others {
				assert.True(t, s == other || chosen[s] != chosen[other], "%s: s%d and s%d", name, s.Index, other.Index)
			}
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.00k", 9_996: "10.0k", 10_570: "10.6k",
		999_499: "999k",
		999_500: "1.00M", 61_100_840: "61.1M", 3_640_000_000: "3.64G", 5_000_000_000_000_000: "5000T"} {
		digits, prefix := Short(n)
		assert.Equal(t, want, digits+prefix)
	}
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestDrawingsThatCannotBeWrittenAreErrors(t *testing.T) {
	trace, err := tracing.Read(residual())
	require.NoError(t, err)
	assert.ErrorContains(t, SVG(full{}, trace), "no space left")
}
