package tables_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
)

// small is a scenario with four sequences.
var small = tables.Scenario{Name: "small", Network: "ConvNet2", Dataset: "synthetic", Budget: 40, Start: 10,
	Decisions: 2, Actions: []string{"deepen:0", "none"}}

// entry returns the record of the k-th sequence of the small scenario with a seed.
func entry(k int, seed int64) tables.Entry {
	s := []string{small.Actions[k/2], small.Actions[k%2]}
	r := tables.Record{Sequence: s, Left: []float64{30, 20.25},
		Accuracy: []float64{0.5 + float64(k)/16 + float64(seed%32)/128}, Seeds: []int64{seed},
		Step: []float64{0.125, 0.25}, Before: []float64{float64(seed%32) / 64, 0.5},
		Loss: []float64{2, float64(seed%32) / 16}, Fall: []float64{0, -0.5}, Gap: []float64{-0.25, 0},
		After: []float64{0.5, float64(seed%32) / 64}, LastStep: 0.5, Networks: []string{"start", "after-" + s[0],
			"after-" + s[0] + "-" + s[1]}, Profile: "cpu-2", Graft: "v0.1.0", LibTorch: "1.13.0"}
	return tables.Entry{Key: tables.Cause{Scenario: small.Digest(), Sequence: s, Seeds: r.Seeds}.Key(), Record: r}
}

// unsynced does not wait for the disk, because these tests end processes, not machines.
type unsynced = tabletest.Unsynced

// write adds entries to a table as a writer of this name does.
func write(t testing.TB, dir, name string, entries ...tables.Entry) {
	t.Helper()
	w, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: name})
	require.NoError(t, err)
	for _, e := range entries {
		require.NoError(t, w.Append(e.Key, e.Record))
	}
	require.NoError(t, w.Close())
}

// newTable creates a table of two writers. Each has run one seed of all sequences.
func newTable(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	write(t, dir, "a", entry(0, 1), entry(1, 1), entry(2, 1), entry(3, 1))
	write(t, dir, "b", entry(3, 2), entry(2, 2), entry(1, 2), entry(0, 2))
	return dir
}

// check returns the report of Check on a folder that holds a table.
func check(t testing.TB, dir string) *tables.Report {
	t.Helper()
	report, err := tables.Check(files.OS{}, dir)
	require.NoError(t, err)
	return report
}

func TestTablesAreReadAsTheyWereWritten(t *testing.T) {
	dir := newTable(t)
	table, err := tables.Read(files.OS{}, dir)
	require.NoError(t, err)
	require.Equal(t, small, table.Scenario)
	require.NoError(t, table.Complete())
	require.Len(t, table.Records, 4)
	for k, r := range table.Records {
		one, two := entry(k, 1), entry(k, 2)
		want := one.Record
		want.Seeds, want.Accuracy = []int64{1, 2}, append(want.Accuracy, two.Accuracy...)
		want.Before = []float64{(one.Before[0] + two.Before[0]) / 2, 0.5}
		want.Loss, want.After = []float64{2, (one.Loss[1] + two.Loss[1]) / 2},
			[]float64{0.5, (one.After[1] + two.After[1]) / 2}
		require.Equal(t, want, r, "in the order of choices and of seeds, whoever wrote first")
		require.Same(t, &table.Records[k], table.Find(r.Sequence...))
	}
	report := check(t, dir)
	require.Equal(t, []tables.FileInfo{{Name: "a-1.jsonl", Records: 4, Closed: true},
		{Name: "b-1.jsonl", Records: 4, Closed: true}}, report.Files)
	require.Equal(t, 8, report.Records)
	require.NoError(t, report.Err())
}

func TestEntriesSayWhereTheyStand(t *testing.T) {
	dir := newTable(t)
	report := check(t, dir)
	require.Len(t, report.Entries, 8)
	want := entry(1, 1)
	want.File, want.Line, want.Offset = "a-1.jsonl", 3, report.Entries[1].Offset
	require.Equal(t, want, *report.Entries[1])
	lines := strings.SplitAfter(read(t, dir, "a-1.jsonl"), "\n")
	require.Equal(t, int64(len(lines[0])+len(lines[1])), want.Offset)
	_, err := tables.Check(files.OS{}, t.TempDir())
	require.ErrorIs(t, err, tables.ErrNoTable)
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func overwrite(t testing.TB, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// A run that is executed twice counts once. A writer that has read the first record does not write the second.
func TestARunThatWasExecutedTwice(t *testing.T) {
	dir := newTable(t)
	before := read(t, dir, "a-1.jsonl")
	again := entry(0, 1)
	again.Graft, again.LibTorch = "v0.2.0", "2.1.0" // versions are not part of the outcome
	write(t, dir, "a", again, again)
	require.Equal(t, before, read(t, dir, "a-1.jsonl"))

	one, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "c"})
	require.NoError(t, err)
	two, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "c"})
	require.NoError(t, err)
	late := entry(0, 3)
	for _, w := range []*tables.Writer{one, two} { // neither sees the other's record
		require.NoError(t, w.Append(late.Key, late.Record))
		require.NoError(t, w.Close())
		require.NoError(t, w.Close(), "to close twice does nothing")
		require.ErrorContains(t, w.Append(late.Key, late.Record), "the writer is closed")
	}
	report := check(t, dir)
	require.NoError(t, report.Err())
	require.Equal(t, 9, report.Records)
	require.Equal(t, []int64{1, 2, 3}, report.Table.Records[0].Seeds)
	require.Len(t, report.Files, 4, "two writers of one name had a file each")
}

func TestWritersRefuseWhatDoesNotFit(t *testing.T) {
	dir := newTable(t)
	w, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "a"})
	require.NoError(t, err)
	for says, change := range map[string]func(e *tables.Entry){
		"has the same key, but a different outcome": func(e *tables.Entry) { e.Accuracy = []float64{0.75} },
		"has the same outcome under another key":    func(e *tables.Entry) { e.Key = strings.Repeat("0", 64) },
		"has a different outcome under another key": func(e *tables.Entry) {
			e.Key, e.Profile = strings.Repeat("0", 64), "cpu-4"
		},
		"is invalid; expected a SHA-256": func(e *tables.Entry) { e.Key = e.Key[1:] + "A" },
		"unknown action widen:a; expected one of: deepen:0, none": func(e *tables.Entry) {
			e.Sequence = []string{"none", "widen:a"}
		},
		"duplicate seed 1": func(e *tables.Entry) {
			e.Seeds, e.Accuracy = []int64{1, 1}, []float64{0.5, 0.5}
		},
		"got 2 networks, expected one for each of 2 decisions": func(e *tables.Entry) { e.Networks = e.Networks[:2] },
		`"v\n1" contains unprintable characters`:               func(e *tables.Entry) { e.Graft = "v\n1" },
		"got 1 accuracies, expected 0, one per seed":           func(e *tables.Entry) { e.Seeds = nil },
		"the line has 10": func(e *tables.Entry) {
			e.Graft = strings.Repeat("x", 1<<20)
			e.Seeds = []int64{7}
			e.Key = strings.Repeat("1", 64)
		},
	} {
		e := entry(0, 1)
		change(&e)
		require.ErrorContains(t, w.Append(e.Key, e.Record), says)
	}
	conflict := entry(0, 1)
	conflict.Left = []float64{30, 19}
	require.ErrorIs(t, w.Append(conflict.Key, conflict.Record), tables.ErrConflict)
	require.NoError(t, w.Close())
	require.NoError(t, check(t, dir).Err(), "nothing of it was written")
}

// A table whose actions depend on the network sorts sequences alphabetically and accepts any
// action.
func TestTablesWithoutAListOfActions(t *testing.T) {
	s := small
	s.Actions = nil
	dir := filepath.Join(t.TempDir(), "a", "table")
	require.NoError(t, tables.Create(unsynced{}, dir, s, tables.CreateOptions{}))
	w, err := tables.Open(unsynced{}, dir, tables.WriterOptions{})
	require.NoError(t, err)
	for k, a := range []string{"none", `widen:conv "2":48 <é>`, "deepen:conv1"} {
		e := entry(0, 1)
		e.Sequence, e.Networks, e.Key = []string{"none", a}, nil, fmt.Sprintf("%064x", k)
		require.NoError(t, w.Append(e.Key, e.Record))
	}
	bad := entry(0, 1)
	bad.Sequence = []string{"none", "deepen:0,none"}
	require.ErrorContains(t, w.Append(bad.Key, bad.Record), `"deepen:0,none" is not an action`)
	require.NoError(t, w.Close())
	table, err := tables.Read(files.OS{}, dir)
	require.NoError(t, err)
	require.NoError(t, table.Complete(), "nobody knows what is missing")
	require.Zero(t, table.Sequences())
	var last []string
	for _, r := range table.Records {
		last = append(last, r.Sequence[1])
	}
	require.Equal(t, []string{"deepen:conv1", "none", `widen:conv "2":48 <é>`}, last)
}

func TestIncompleteTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	table, err := tables.Read(files.OS{}, dir)
	require.NoError(t, err)
	require.Empty(t, table.Records)
	require.ErrorContains(t, table.Complete(),
		"4 of its sequences are missing, such as (deepen:0, deepen:0) and (deepen:0, none) and (none, deepen:0)")
	write(t, dir, "a", entry(0, 1), entry(3, 1))
	table, err = tables.Read(files.OS{}, dir)
	require.NoError(t, err)
	require.ErrorContains(t, table.Complete(),
		"2 of its sequences are missing, such as (deepen:0, none) and (none, deepen:0)")

	huge := tables.Scenario{Name: "huge", Budget: 1, Decisions: 100, Actions: manyActions()}
	table, err = tables.New(huge, nil)
	require.NoError(t, err)
	require.ErrorContains(t, table.Complete(), "table huge: 3.37e+125 of", "without going through all of them")
}

func TestScenariosThatAreNone(t *testing.T) {
	bad := tables.Scenario{Name: "a\x1b", Network: "\xff", Start: -1, Actions: []string{"", "a,b", "none", "none"}}
	err := tables.Create(unsynced{}, filepath.Join(t.TempDir(), "table"), bad, tables.CreateOptions{})
	for _, says := range []string{`"a\x1b" contains unprintable characters`, `"\xff" contains unprintable characters`,
		"budget is 0 s",
		"start is -1 s", "0 decisions", `"" is not an action`, `"a,b" is not an action`, "duplicate action none"} {
		require.ErrorContains(t, err, says)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := newTable(t)
	other := small
	other.Budget = 50
	require.ErrorIs(t, tables.Create(unsynced{}, dir, other, tables.CreateOptions{}), tables.ErrExists)
	w, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "b"})
	require.NoError(t, err)
	require.ErrorIs(t, tables.Create(unsynced{}, dir, other, tables.CreateOptions{Force: true}), files.ErrLocked)
	require.NoError(t, w.Close())
	require.NoError(t, tables.Create(unsynced{}, dir, other, tables.CreateOptions{Force: true}))
	require.Equal(t, 8, check(t, dir+".1").Records, "it was moved aside")
	require.Zero(t, check(t, dir).Records)

	file := filepath.Join(t.TempDir(), "file")
	overwrite(t, filepath.Dir(file), "file", "")
	require.ErrorContains(t, tables.Create(unsynced{}, file, small, tables.CreateOptions{Force: true}),
		"a file with this name already exists")
	home := filepath.Dir(file)
	require.ErrorIs(t, tables.Create(unsynced{}, home, small, tables.CreateOptions{}), tables.ErrExists)
	_, err = tables.Open(unsynced{}, home, tables.WriterOptions{})
	require.ErrorIs(t, err, tables.ErrNoTable)
	_, err = tables.Read(unsynced{}, home)
	require.ErrorIs(t, err, tables.ErrNoTable)
	_, err = tables.Read(unsynced{}, filepath.Join(home, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "A/b"})
	require.ErrorContains(t, err, "writer name")
}

// If many callers create a table at once, one succeeds and all can write it.
func TestManyCreateOneTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	made := make(chan error)
	for range 8 {
		go func() {
			err := tables.Create(unsynced{}, dir, small, tables.CreateOptions{})
			if err == nil || errors.Is(err, tables.ErrExists) {
				w, openErr := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "same"})
				if openErr != nil {
					err = openErr
				} else if closeErr := w.Close(); closeErr != nil {
					err = closeErr
				}
			}
			made <- err
		}()
	}
	created := 0
	for range 8 {
		if err := <-made; err == nil {
			created++
		} else {
			require.ErrorIs(t, err, tables.ErrExists)
		}
	}
	require.Equal(t, 1, created)
	require.NoError(t, check(t, dir).Err())
}

func TestKeysTellCausesApart(t *testing.T) {
	base := tables.Cause{Scenario: "a", Sequence: []string{"a", "b"}, Seeds: []int64{1}}
	keys := []string{base.Key()}
	for _, change := range []func(c *tables.Cause){
		func(c *tables.Cause) { c.Scenario, c.Network = "", "a" }, func(c *tables.Cause) { c.Data = "x" },
		func(c *tables.Cause) { c.Options = "x" }, func(c *tables.Cause) { c.Profile = "x" },
		func(c *tables.Cause) { c.Code = "x" }, func(c *tables.Cause) { c.Sequence = []string{"a,b"} },
		func(c *tables.Cause) { c.Seeds = []int64{1, 2} },
	} {
		c := base
		change(&c)
		require.NotContains(t, keys, c.Key())
		keys = append(keys, c.Key())
	}
	require.Len(t, slices.Compact(keys), 8)
	require.Equal(t, base.Key(), tables.Cause{Scenario: "a", Sequence: []string{"a", "b"}, Seeds: []int64{1}}.Key())
}

// The first format stays readable. It is also written byte by byte as before while it is the current format.
func TestTheFirstFormat(t *testing.T) {
	const kept = "testdata/format1"
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	early := func(k int, seed int64) tables.Entry { // without the values that later versions added
		e := entry(k, seed)
		e.Step, e.Before = nil, nil
		e.Loss, e.Fall, e.Gap, e.After, e.LastStep = nil, nil, nil, nil, 0
		return e
	}
	write(t, dir, "a", early(0, 1), early(1, 1), early(2, 1), early(3, 1))
	write(t, dir, "b", early(3, 2), early(2, 2), early(1, 2), early(0, 2))
	want := check(t, dir)
	report := check(t, kept)
	require.NoError(t, report.Err())
	require.Equal(t, want.Table, report.Table)
	require.Equal(t, want.Files, report.Files)
	for _, name := range []string{"scenario.json", "a-1.jsonl", "b-1.jsonl"} {
		require.Equal(t, read(t, kept, name), read(t, dir, name))
	}
}

func TestTablesAreOneTree(t *testing.T) {
	record := func(a, b string) tables.Record {
		return tables.Record{Sequence: []string{a, b}, Left: []float64{9, 8}, Accuracy: []float64{0.5, 0.75},
			Seeds: []int64{1, 2}}
	}
	s := tables.Scenario{Name: "two", Budget: 10, Decisions: 2, Actions: []string{"none", "deepen:0"}}
	table, err := tables.New(s, []tables.Record{record("none", "none"), record("none", "deepen:0")})
	require.NoError(t, err)
	require.Equal(t, 0.625, table.Records[0].Mean())
	require.Nil(t, table.Find("deepen:0", "none"))
	require.ErrorContains(t, table.Complete(),
		"table two: 2 of its sequences are missing, such as (deepen:0, none) and (deepen:0, deepen:0); simulate them")

	_, err = tables.New(s, []tables.Record{record("none", "none"), record("none", "none"), record("none", "widen:a")})
	require.ErrorContains(t, err, "(none, none): duplicate in records 0 and 1")
	require.ErrorContains(t, err, "(none, widen:a): unknown action widen:a; expected one of: none, deepen:0")
	require.True(t, math.IsNaN((&tables.Record{}).Mean()))
}

// A record without its last step takes the last step of the same sequence with other seeds.
func TestUnknownLastSteps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	unknown := entry(0, 1)
	unknown.LastStep = 0
	write(t, dir, "a", unknown, entry(1, 1), entry(2, 1), entry(3, 1), entry(0, 2), entry(1, 2), entry(2, 2),
		entry(3, 2))
	table, err := tables.Read(files.OS{}, dir)
	require.NoError(t, err)
	require.Len(t, table.Records, 4)
	require.Equal(t, []int64{1, 2}, table.Records[0].Seeds)
	require.Equal(t, 0.5, table.Records[0].LastStep)
}
