package results_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

var columns = []results.Column{
	{Name: "epoch", Kind: results.Int},
	{Name: "loss", Unit: "nats"},
	{Name: "action", Kind: results.String},
	{Name: "grown", Kind: results.Bool},
}

const head = "epoch,loss [nats],action,grown\n"

func TestStreamWritesRowsAtOnce(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(1, 2.5, "deepen", true))
	require.NoError(t, s.Append(uint8(2), float32(0.1), `say "no", twice`, false))
	require.NoError(t, s.Append(nil, nil, nil, nil))
	require.NoError(t, s.Append(-3, math.Inf(-1), "", true))
	want := head + `1,2.5,"deepen",true
2,0.10000000149011612,"say ""no"", twice",false
,,,
-3,-Inf,"",true
`
	assert.Equal(t, want, read(t, run.Path("epochs.csv")))
	assert.Equal(t, 4, s.Rows())
}

func TestTableReadsWhatAStreamWrote(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(nil, nil, nil, true))
	require.NoError(t, s.Append(math.MaxInt64, 3.0, `a "b", c`, false))
	table, err := results.ReadStream(files.OS{}, run.Path("epochs.csv"))
	require.NoError(t, err)
	assert.Equal(t, columns, table.Columns)
	assert.Equal(t, 2, table.Rows)
	assert.False(t, table.Torn)
	floats, err := table.Floats("loss")
	require.NoError(t, err)
	assert.True(t, math.IsNaN(floats[0]))
	assert.Equal(t, 3.0, floats[1])
	texts, err := table.Strings("action")
	require.NoError(t, err)
	assert.Equal(t, []string{"", `a "b", c`}, texts)
	_, err = table.Strings("loss")
	assert.ErrorContains(t, err, "column loss has kind float, expected string")
	_, err = table.Floats("action")
	assert.ErrorContains(t, err, "expected numbers")
	_, err = table.Strings("time")
	assert.ErrorContains(t, err, `unknown column "time"`)
}

// Each float64 reads back with the same bits, and as a float.
func TestFloatsRoundTrip(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("floats", []results.Column{{Name: "x"}})
	require.NoError(t, err)
	require.NoError(t, s.Buffer(100))
	want := []float64{0, math.Copysign(0, -1), 1, -1, 1e15, 1e21, 1e300, 5e-324, math.MaxFloat64, 0.1, math.Pi,
		math.Inf(1)}
	random := rand.New(rand.NewPCG(1, 2))
	for len(want) < 2000 {
		if f := math.Float64frombits(random.Uint64()); !math.IsNaN(f) {
			want = append(want, f, math.Round(f))
		}
	}
	for _, f := range want {
		require.NoError(t, s.Append(f))
	}
	require.NoError(t, s.Append(math.NaN()))
	require.NoError(t, s.Sync())
	table, err := results.ReadStream(files.OS{}, run.Path("floats.csv"))
	require.NoError(t, err)
	got, err := table.Floats("x")
	require.NoError(t, err)
	assert.True(t, math.IsNaN(got[len(want)]))
	for k, f := range want {
		require.Equal(t, math.Float64bits(f), math.Float64bits(got[k]), f)
	}
}

func TestAppendRefusesWhatDoesNotFit(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	cases := map[string]struct {
		row  []any
		says string
	}{
		"too few":          {[]any{1}, "expected 4 values, got 1"},
		"a float as int":   {[]any{1.0, 1.0, "", true}, "column epoch: value 1 has type float64, expected kind int"},
		"an int as float":  {[]any{1, 1, "", true}, "column loss: value 1 has type int, expected kind float"},
		"too large an int": {[]any{uint64(1 << 63), 1.0, "", true}, "column epoch"},
		"a line break":     {[]any{1, 1.0, "a\nb", true}, "contains a line break"},
		"a number as text": {[]any{1, 1.0, 2, true}, "column action"},
		"text as bool":     {[]any{1, 1.0, "", "true"}, "column grown"},
		"far too long":     {[]any{1, 1.0, strings.Repeat("x", 16<<20), true}, "the maximum is"},
	}
	for name, c := range cases {
		assert.ErrorContains(t, s.Append(c.row...), c.says, name)
	}
	require.NoError(t, s.Append(1, 1.0, "", true), "a refused row does no harm")
	assert.Equal(t, head+"1,1.0,\"\",true\n", read(t, run.Path("epochs.csv")))
}

func TestStreamRefusesBadNames(t *testing.T) {
	run := newRun(t)
	for _, name := range []string{"", "../x", "A", ".x", "a b", strings.Repeat("x", 101)} {
		_, err := run.Stream(name, columns)
		assert.ErrorContains(t, err, "invalid name", name)
		assert.ErrorContains(t, appendJSON(run, name, 1), "invalid name", name)
		assert.ErrorContains(t, run.SaveCheckpoint(name, nothing), "invalid name", name)
	}
	for name, c := range map[string][]results.Column{
		"no columns": nil, "no name": {{}}, "twice": {{Name: "a"}, {Name: "a"}}, "comma": {{Name: "a,b"}},
		"bracket": {{Name: "a", Unit: "]"}}, "kind": {{Name: "a", Kind: 9}}, "space": {{Name: " a"}},
	} {
		_, err := run.Stream("x", c)
		assert.Error(t, err, name)
	}
	assert.NoFileExists(t, run.Path("x.csv"))
}

// Readers skip a torn last row, and the next writer cuts it off.
func TestTornRows(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(1, 1.0, "a", true))
	digest := s.Digest()
	require.NoError(t, run.Close())
	whole := read(t, run.Path("epochs.csv"))
	for _, torn := range []string{"2", `2,2.0,"b`, `2,2.0,"b",true`, "\x00\x00"} {
		write(t, whole+torn, run.Path("epochs.csv"))
		table, err := results.ReadStream(files.OS{}, run.Path("epochs.csv"))
		require.NoError(t, err)
		assert.True(t, table.Torn)
		assert.Equal(t, 1, table.Rows)
		again := reopen(t, run)
		s, err = again.Stream("epochs", columns)
		require.NoError(t, err)
		assert.Equal(t, digest, s.Digest())
		require.NoError(t, again.Close())
		assert.Equal(t, whole, read(t, run.Path("epochs.csv")))
	}
	again := reopen(t, run)
	s, err = again.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(2, 2.0, "b", true))
	assert.Equal(t, whole+"2,2.0,\"b\",true\n", read(t, run.Path("epochs.csv")))
}

func TestAnExistingTableMustFit(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(1, nil, "a", true))
	for range 2 { // while open, and after reopening
		_, err = run.Stream("epochs", columns[:2])
		require.ErrorContains(t, err, "epochs.csv:1: the columns are")
		other := append([]results.Column{{Name: "epoch"}}, columns[1:]...)
		_, err = run.Stream("epochs", other)
		require.ErrorContains(t, err, "epochs.csv:2: column epoch has values of kind int, expected float")
		run = reopen(t, run)
	}
}

func TestTableFaultsHaveTheirPlace(t *testing.T) {
	cases := map[string]struct{ text, says string }{
		"nothing":         {"", "x.csv:1: the header line is missing"},
		"torn head":       {"epoch", "x.csv:1: the header line is missing"},
		"twice a name":    {"a,a\n", `x.csv:1: column "a"`},
		"too many values": {"a\n1,2\n", "x.csv:2: expected 1 values, got 2"},
		"two kinds": {"a\n1\n\n2.0\n", "x.csv:4: column a: a value has kind float, but earlier values have " +
			"kind int"},
		"open quote":    {"a\n\"x\n", "x.csv:2: column 1: a quote is not closed"},
		"after a quote": {"a\n\"x\"y\n", "x.csv:2: column 1: expected a comma after a closing quote"},
		"bare text":     {"a,b\n1,deepen\n", `x.csv:2: column 2: "deepen" is not a number`},
		"hexadecimal":   {"a\n0x1p4\n", "x.csv:2"},
		"too large":     {"a\n9223372036854775808\n", "is not a 64-bit integer"},
		"no end":        {"a\n" + strings.Repeat("1", 17<<20) + "\n", "line 2 is longer than"},
	}
	run := newRun(t)
	for name, c := range cases {
		write(t, c.text, run.Path("x.csv"))
		_, err := results.ReadStream(files.OS{}, run.Path("x.csv"))
		assert.ErrorContains(t, err, c.says, name)
	}
}

func TestTruncateKeepsTheFirstRows(t *testing.T) {
	for name, again := range map[string]func(testing.TB, *results.Run) *results.Run{
		"of an open run":   func(_ testing.TB, run *results.Run) *results.Run { return run },
		"of a resumed run": reopen,
	} {
		t.Run(name, func(t *testing.T) {
			run := newRun(t)
			s, err := run.Stream("epochs", columns)
			require.NoError(t, err)
			digests := []string{s.Digest()}
			for k := range 5 {
				require.NoError(t, s.Append(k, 1.0, "", false))
				digests = append(digests, s.Digest())
			}
			run = again(t, run)
			s, err = run.Stream("epochs", columns)
			require.NoError(t, err)
			require.ErrorContains(t, s.Truncate(6), "the file has only 5")
			require.Error(t, s.Truncate(-1))
			for _, rows := range []int{5, 3, 3, 0} {
				require.NoError(t, s.Truncate(rows))
				assert.Equal(t, rows, s.Rows())
				assert.Equal(t, digests[rows], s.Digest())
				assert.Equal(t, 1+rows, strings.Count(read(t, run.Path("epochs.csv")), "\n"))
			}
			require.NoError(t, s.Append(0, 1.0, "", false))
			assert.Equal(t, digests[1], s.Digest(), "rows go on where the table now ends")
			assert.Equal(t, 2, strings.Count(read(t, run.Path("epochs.csv")), "\n"))
		})
	}
}

func TestBufferedRowsWait(t *testing.T) {
	run := newRun(t)
	s, err := run.Stream("steps", columns[:1])
	require.NoError(t, err)
	require.NoError(t, s.Buffer(3))
	rows := func() int { return strings.Count(read(t, run.Path("steps.csv")), "\n") - 1 }
	for k, want := range []int{0, 0, 3, 3} {
		require.NoError(t, s.Append(k))
		assert.Equal(t, want, rows())
	}
	assert.Equal(t, 4, s.Rows())
	require.NoError(t, s.Buffer(1))
	assert.Equal(t, 4, rows())
	require.NoError(t, s.Buffer(10))
	require.NoError(t, s.Append(4))
	require.NoError(t, s.Truncate(4))
	assert.Equal(t, 4, rows())
	require.NoError(t, s.Append(5))
	require.NoError(t, run.SaveCheckpoint("x", nothing))
	assert.Equal(t, 5, rows())
}

// Concurrent writers of rows, logs and checkpoints tear nothing.
func TestConcurrentWriters(t *testing.T) {
	run := newRun(t)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for k := range 20 {
				s, err := run.Stream("epochs", columns)
				assert.NoError(t, err)
				assert.NoError(t, s.Append(k, float64(g), fmt.Sprint(g), true))
				assert.NoError(t, appendJSON(run, "events", []int{g, k}))
				if k%10 == 0 {
					assert.NoError(t, run.SaveCheckpoint("x", nothing))
				}
				_ = s.Digest()
			}
		})
	}
	all.Wait()
	s := look(t, run.Path(""))
	assert.Equal(t, 80, s.Tables["epochs"].Rows)
	assert.Len(t, s.Logs["events"], 80)
	kept, err := filepath.Glob(run.Path("checkpoints/*"))
	require.NoError(t, err)
	assert.Len(t, kept, 2)
}

func TestLines(t *testing.T) {
	run := newRun(t)
	type event struct {
		Epoch int
		Text  string
	}
	lines, err := run.Lines("events")
	require.NoError(t, err)
	want := []event{{1, "a\nb"}, {2, "…"}}
	for _, e := range want {
		require.NoError(t, lines.Append(e))
	}
	digest := lines.Digest()
	require.NoError(t, appendJSON(run, "events", event{3, ""}))
	assert.Equal(t, 3, lines.Rows())
	require.Error(t, lines.Append(func() {}), "no JSON")
	write(t, read(t, run.Path("events.jsonl"))+`{"Epoch":4`, run.Path("events.jsonl"))
	got, err := results.ReadJSONLines[event](files.OS{}, run.Path("events.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, append(want, event{3, ""}), got)

	run = reopen(t, run)
	lines, err = run.Lines("events")
	require.NoError(t, err)
	require.NoError(t, lines.Truncate(2))
	assert.Equal(t, digest, lines.Digest())
	require.NoError(t, lines.Sync())
	got, err = results.ReadJSONLines[event](files.OS{}, run.Path("events.jsonl"))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	_, err = results.ReadJSONLines[int](files.OS{}, run.Path("events.jsonl"))
	assert.ErrorContains(t, err, "events.jsonl:1: ")
	_, err = results.ReadJSONLines[int](files.OS{}, run.Path("none.jsonl"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A log accepts exactly one JSON value per write.
func TestLinesTakeWholeLines(t *testing.T) {
	run := newRun(t)
	lines, err := run.Lines("log")
	require.NoError(t, err)
	for text, good := range map[string]bool{
		"{\"a\":1}\n": true, "2": true, "": false, "\n": false, "1\n2\n": false, "{": false, "{\n}": false,
	} {
		n, err := lines.Write([]byte(text))
		assert.Equal(t, good, err == nil, "%q", text)
		if good {
			assert.Equal(t, len(text), n)
		}
	}
	assert.Equal(t, 2, lines.Rows())
}

func BenchmarkAppend(b *testing.B) {
	for _, every := range []int{1, 100} {
		b.Run(fmt.Sprint(every), func(b *testing.B) {
			s, err := newRun(b).Stream("epochs", columns)
			require.NoError(b, err)
			require.NoError(b, s.Buffer(every))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, s.Append(1, 0.123456789, "deepen", true))
			}
		})
	}
}
