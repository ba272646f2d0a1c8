package document_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/report/document"
)

func TestCellsForPeople(t *testing.T) {
	low, high := 0.725, 0.75
	interval := func(c document.Cell) document.Cell {
		c.Low, c.High = &low, &high
		return c
	}
	for name, c := range map[string]struct {
		cell document.Cell
		want string
	}{
		"a share":                {document.Value(0.73828125, document.UnitShare), "73.83"},
		"nats":                   {document.Value(0.525, document.UnitNats), "0.5250"},
		"a whole number":         {document.Value(16, ""), "16"},
		"a large ratio":          {document.Value(12345.6, ""), "12346"},
		"a format with a unit":   {document.Value(0.5, document.UnitShare).As("%.0f%%"), "50%"},
		"half of a point":        {document.Value(0.125, document.UnitPoints), "0.13"},
		"half a unit of seconds": {document.Value(0.125, document.UnitSeconds), "0.12"},
		"a zero without a minus": {document.Value(-0.001, document.UnitPoints), "0.00"},
		"a sign":                 {document.Value(1.5, document.UnitPoints).As("%+.2f"), "+1.50"},
		"a number and an interval": {interval(document.Value(2, document.UnitPoints).As("%+.2f")),
			"+2.00 [0.73, 0.75]"},
		"an interval alone":    {document.Between(&low, &low, document.UnitShare), "[72.50, 72.50]"},
		"no interval":          {document.Between(nil, &low, document.UnitShare), "-"},
		"text behind a number": {document.Value(3, "").Then(" of %d", 16), "3 of 16"},
		"control characters":   {document.Text("a\x1b[2Jb\u009bc"), "a?[2Jb?c"},
		"not a number":         {document.Value(math.NaN(), document.UnitShare), "NaN"},
	} {
		require.Equal(t, c.want, c.cell.String(), name)
	}
}

// A page sorts by the exact number: the shown text or the sort key reads back bit for bit.
func TestSortKeysReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e12, 1e12).Draw(t, "v")
		c := document.Value(v, rapid.SampledFrom([]string{"", "share", "points", "s", "nats", "epochs/s"}).
			Draw(t, "unit"))
		text := c.SortKey()
		if text == "" {
			text = c.String()
		}
		got, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		require.Equal(t, v, got)
	})
	require.Empty(t, document.Text("3").SortKey())
	require.Empty(t, document.Value(math.NaN(), "").SortKey())
}

func TestATableInAllForms(t *testing.T) {
	table := document.NewTable("outcome").Given("run_A", true).Numbers(document.UnitSeconds, "", "took").
		Numbers(document.UnitShare, "%.1f%%", "used").Texts("")
	table.Add("best *accuracy*", document.Value(0.73828125, document.UnitShare).Then(" ~"), 1.5, new(0.25), true)
	table.Add("sequences", 1_500_000, (*float64)(nil), 0.5)
	d := &document.Document{}
	d.Head("two runs")
	d.Know("seed", "1", "host", "", "device", "cpu")
	d.Break()
	d.Show(table)
	d.Say("Nothing is ranked.")
	for want, write := range map[string]func(*strings.Builder) error{
		"Two runs\n\nseed    1\ndevice  cpu\n\nOUTCOME            run_A  TOOK [s]   USED\n" +
			"best *accuracy*  73.83 ~      1.50  25.0%  true\nsequences        1500000         -  50.0%\n\n" +
			"Nothing is ranked.\n": func(b *strings.Builder) error {
			return d.Print(b)
		},
		"two runs\nseed    1\ndevice  cpu\n\nOUTCOME            run_A  TOOK [s]   USED\n" +
			"best *accuracy*  73.83 ~      1.50  25.0%  true\nsequences        1500000         -  50.0%\n" +
			"Nothing is ranked.\n": func(b *strings.Builder) error {
			return d.PrintCompact(b)
		},
		"## Two runs\n\n|  |  |\n| --- | --- |\n| seed | 1 |\n| device | cpu |\n\n" +
			"| OUTCOME | run\\_A | TOOK \\[s\\] | USED |  |\n| --- | ---: | ---: | ---: | --- |\n" +
			"| best \\*accuracy\\* | 73.83 \\~ | 1.50 | 25.0% | true |\n| sequences | 1500000 | - | 50.0% |  |\n\n" +
			"- Nothing is ranked.\n": func(b *strings.Builder) error { return d.Markdown(b) },
		"outcome,run_A,took [s],used [share],\nbest *accuracy*,0.73828125,1.5,0.25,true\n" +
			"sequences,1500000,,0.5,\n": func(b *strings.Builder) error {
			return table.CSV(b)
		},
	} {
		var got strings.Builder
		require.NoError(t, write(&got))
		require.Equal(t, want, got.String())
	}
	table.Add(int64(1)<<53 + 1)
	require.Equal(t, "9007199254740993", table.Rows[2][0].String(), "no digit is lost")
	table.Add("fourth")
	short, left := table.Middle(2)
	require.Equal(t, 2, left)
	require.Equal(t, [][]document.Cell{table.Rows[0], table.Rows[3]}, short.Rows)
	require.Len(t, table.Rows, 4, "the table itself stays")
}

// A terminal breaks long lists between words; CSV and Markdown keep the cell in one piece.
func TestWrappedColumns(t *testing.T) {
	table := document.NewTable("key")
	table.Given("value", false).Wrap(10)
	table.Add("tables.folders", `["runs/a", "runs/b", "a-word-longer-than-that"]`)
	table.Add("run.seed", "1")
	var text, csv, markdown strings.Builder
	require.NoError(t, table.Print(&text))
	require.Equal(t, `KEY             value
tables.folders  ["runs/a",
                "runs/b",
                "a-word-longer-than-that"]
run.seed        1
`, text.String())
	require.NoError(t, table.CSV(&csv))
	require.Contains(t, csv.String(), `"[""runs/a"", ""runs/b"", ""a-word-longer-than-that""]"`)
	d := &document.Document{}
	d.Show(table)
	require.NoError(t, d.Markdown(&markdown))
	require.Contains(t, markdown.String(), `"runs/a", "runs/b", "a-word-longer-than-that"`)
}

// Spreadsheets read no text of a run as a formula, and numbers stay numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	table := document.NewTable("run").Texts("=head").Numbers("", "", "value")
	table.Add("=1+1", "-0.5", -0.5)
	table.Add("-runs/a", "+x", 1)
	table.Add("@a", "a=b", -3)
	var b strings.Builder
	require.NoError(t, table.CSV(&b))
	require.Equal(t, "run,'=head,value\n'=1+1,-0.5,-0.5\n'-runs/a,'+x,1\n'@a,a=b,-3\n", b.String())
}
