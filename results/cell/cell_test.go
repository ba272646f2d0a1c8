package cell_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/results/cell"
	"graft/results/page"
)

func TestCellsForPeople(t *testing.T) {
	low, high := 0.725, 0.75
	for name, c := range map[string]struct {
		cell cell.Cell
		want string
	}{
		"a share":                     {cell.Value(0.73828125, cell.Share), "73.83"},
		"points":                      {cell.Value(14.0625, cell.Points), "14.06"},
		"nats":                        {cell.Value(0.525, cell.Nats), "0.5250"},
		"a whole number":              {cell.Value(16, ""), "16"},
		"a ratio":                     {cell.Value(97.0894, ""), "97.09"},
		"a large ratio":               {cell.Value(12345.6, ""), "1.235e+04"},
		"a count":                     {cell.Int(1500), "1500"},
		"digits":                      {cell.Value(2.0625, cell.Seconds).With(cell.Fixed(1)), "2.1"},
		"significant digits":          {cell.Value(0.001, "").With(cell.Significant(3)), "0.001"},
		"a half to even":              {cell.Value(0.125, cell.Points), "0.12"},
		"a half away from zero":       {cell.Value(0.125, cell.Points).With(cell.Rounded(2)), "0.13"},
		"nothing below zero":          {cell.Value(-0.001, cell.Points), "0.00"},
		"a sign":                      {cell.Cell{Number: new(1.5), Sign: true}, "+1.5"},
		"a sign of a zero":            {cell.Cell{Number: new(-0.001), Unit: cell.Points, Sign: true}, "+0.00"},
		"a sign below zero":           {cell.Cell{Number: new(-2.0), Unit: cell.Points, Sign: true}, "-2.00"},
		"a percentage in running":     {cell.Cell{Number: new(0.5), Unit: cell.Share, WithUnit: true, Digits: cell.Fixed(0)}, "50%"},
		"seconds in running":          {cell.Cell{Number: new(1.5), Unit: cell.Seconds, WithUnit: true, Digits: cell.Fixed(1)}, "1.5 s"},
		"an interval":                 {cell.Value(0.73828125, cell.Share).Within(&low, &high), "73.83 [72.50, 75.00]"},
		"an interval without width":   {cell.Value(0.725, cell.Share).Within(&low, &low), "72.50"},
		"half an interval is none":    {cell.Value(0.725, cell.Share).Within(nil, &low), "72.50"},
		"an interval alone":           {cell.Between(&low, &high, cell.Share), "[72.50, 75.00]"},
		"one without width, alone":    {cell.Between(&low, &low, cell.Share), "[72.50, 72.50]"},
		"no interval":                 {cell.Between(nil, nil, cell.Share), "-"},
		"no number":                   {cell.Optional(nil, cell.Share), "-"},
		"a number that there is":      {cell.Optional(&low, cell.Share), "72.50"},
		"noise":                       {cell.Value(2, cell.Points).Marked(cell.Noise), "2.00 ~"},
		"room for a mark":             {cell.Value(2, cell.Points).Marked(cell.Room), "2.00  "},
		"doubt":                       {cell.Value(2, cell.Points).Within(&low, &high).Marked(cell.Doubt), "~ 2.00 [0.72, 0.75]"},
		"a text that moves a cursor":  {cell.Text("a\x1b[2Jb\u009bc"), "a?[2Jb?c"},
		"not a number":                {cell.Value(math.NaN(), cell.Share), "NaN"},
		"a number beyond all numbers": {cell.Value(math.Inf(-1), ""), "-Inf"},
	} {
		assert.Equal(t, c.want, c.cell.String(), name)
	}
}

// The shown number is the one in the text, and the exact one reads back to the bit.
func TestNumbersReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e12, 1e12).Draw(t, "v")
		unit := rapid.SampledFrom([]cell.Unit{"", cell.Share, cell.Points, cell.Seconds, cell.Nats, "epochs/s"}).Draw(t, "unit")
		c := cell.Value(v, unit).Within(&v, new(v+1))
		text, _, _ := strings.Cut(c.String(), " ")
		shown, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, shown, *c.Shown())
		require.False(t, math.Signbit(shown) && shown == 0)
		exact, low, _ := c.Exact()
		require.Equal(t, exact, low)
		back, err := strconv.ParseFloat(exact, 64)
		require.NoError(t, err)
		require.Equal(t, v, back)
	})
}

func TestCellsAsJSON(t *testing.T) {
	low, high := 0.5, 1.0
	for want, c := range map[string]cell.Cell{
		`{"value":0.73828125,"low":0.5,"high":1,"unit":"share","mark":"inside_noise"}`: cell.Value(0.73828125, cell.Share).Within(&low, &high).Marked(cell.Noise),
		`{"value":16}`:   cell.Int(16).Marked(cell.Room),
		`{"value":null}`: cell.Value(math.NaN(), ""),
		`"a text"`:       cell.Text("a text"),
		`null`:           cell.Missing(),
	} {
		got, err := json.Marshal(c)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	assert.Nil(t, cell.Text("3").Shown())
	assert.Nil(t, cell.Value(math.Inf(1), "").Shown())
}

// made is the table of outcomes of two runs: what they are called is data.
func made() *cell.Table {
	t := cell.New(cell.Column{Name: "outcome"}, cell.Column{Name: "unit"}, cell.Column{Name: "run_A", Number: true, Given: true, Interval: true}, cell.Column{Name: "took", Unit: cell.Seconds, Number: true})
	t.Add(cell.Text("best *accuracy*"), cell.Text("%"), cell.Value(0.73828125, cell.Share).Within(new(0.725), new(0.75)).Marked(cell.Noise), cell.Value(1.5, cell.Seconds))
	t.Add(cell.Text("sequences"), cell.Text(""), cell.Int(16).Marked(cell.Room), cell.Missing())
	return t
}

func TestATableInAllForms(t *testing.T) {
	var text, list strings.Builder
	require.NoError(t, made().Print(&text))
	assert.Equal(t, `OUTCOME          UNIT                   run_A  TOOK [s]
best *accuracy*  %     73.83 [72.50, 75.00] ~      1.50
sequences                                16           -
`, text.String())
	assert.Equal(t, `| OUTCOME | UNIT | run\_A | TOOK \[s\] |
| --- | --- | ---: | ---: |
| best \*accuracy\* | % | 73.83 \[72.50, 75.00\] \~ | 1.50 |
| sequences |  | 16 | - |
`, made().Markdown())
	require.NoError(t, made().CSV(&list))
	assert.Equal(t, `outcome,unit,run_A,low,high,took [s]
best *accuracy*,%,0.73828125,0.725,0.75,1.5
sequences,,16,,,
`, list.String())
	object, err := json.Marshal(made())
	require.NoError(t, err)
	assert.Equal(t, `[{"outcome":"best *accuracy*","unit":"%","run_A":{"value":0.73828125,"low":0.725,"high":0.75,"unit":"share","mark":"inside_noise"},"took":{"value":1.5,"unit":"s"}},`+
		`{"outcome":"sequences","unit":"","run_A":{"value":16},"took":null}]`, string(object))
}

func TestATableOnAPage(t *testing.T) {
	p, left := page.TableOf(made(), 0)
	assert.Zero(t, left)
	assert.Equal(t, []page.Column{{Name: "Outcome"}, {Name: "Unit"}, {Name: "run_A", Number: true}, {Name: "Took", Unit: "s", Number: true}}, p.Columns)
	assert.Equal(t, [][]page.Cell{
		{{Text: "best *accuracy*"}, {Text: "%"}, {Text: "73.83 [72.50, 75.00] ~", Value: new(73.83), Unit: "%"}, {Text: "1.50", Value: new(1.5)}},
		{{Text: "sequences"}, {}, {Text: "16", Value: new(16.0)}, {Text: "-"}},
	}, p.Rows)
	long := cell.New(cell.Column{Name: "k", Number: true})
	for k := range 9 {
		long.Add(cell.Int(k))
	}
	p, left = page.TableOf(long, 4)
	assert.Equal(t, 5, left)
	assert.Equal(t, []page.Cell{{Text: "1", Value: new(1.0)}}, p.Rows[1])
	assert.Equal(t, []page.Cell{{Text: "7", Value: new(7.0)}}, p.Rows[2])
	assert.Len(t, long.Rows, 9)
	assert.Equal(t, cell.Int(2), long.Rows[2][0], "the table itself stays")
}
