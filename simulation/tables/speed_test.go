package tables_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
)

// manyActions returns enough actions for more than 100,000 sequences of four decisions.
func manyActions() []string {
	actions := []string{"none"}
	for k := range 17 {
		actions = append(actions, fmt.Sprintf("deepen:%d", k))
	}
	return actions
}

var large = tables.Scenario{Name: "large", Network: "ConvNet2", Dataset: "cifar10", Budget: 400, Start: 330,
	Decisions: 4, Actions: manyActions()}

// makeLarge creates a table with records as a simulation writes them, and returns the processor time of appending.
func makeLarge(tb testing.TB, records int) (dir string, took time.Duration) {
	dir = filepath.Join(tb.TempDir(), "table")
	require.NoError(tb, tables.Create(files.OS{}, dir, large, tables.CreateOptions{}))
	w, err := tables.Open(files.OS{}, dir, tables.WriterOptions{Name: "writer", Lazy: true})
	require.NoError(tb, err)
	entries := make([]tables.Entry, records)
	for k := range entries {
		entries[k] = largeEntry(k)
	}
	began := processorTime(tb)
	for k := range entries {
		require.NoError(tb, w.Append(entries[k].Key, entries[k].Record))
	}
	took = processorTime(tb) - began
	require.NoError(tb, w.Close())
	return dir, took
}

// largeEntry returns the k-th record of the large table.
func largeEntry(k int) tables.Entry {
	a := large.Actions
	n := len(a)
	s := []string{a[k/n/n/n], a[k/n/n%n], a[k/n%n], a[k%n]}
	network := func(n int) string { return fmt.Sprintf("%.16s", tables.Cause{Sequence: s[:n]}.Key()) }
	return tables.Entry{
		Key: tables.Cause{Scenario: large.Digest(), Sequence: s, Seeds: []int64{42}}.Key(),
		Record: tables.Record{Sequence: s,
			Left:     []float64{69.50247585773468, 59.45585012435913, 49.88820791244507, 40.1},
			Accuracy: []float64{0.5 + float64(k)*1e-7}, Seeds: []int64{42},
			Networks: []string{network(0), network(1), network(2), network(3), network(4)}, Profile: "v100-original",
			Graft: "v0.1.0", LibTorch: "1.13.0"},
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The targets are a second for checking 100,000 records and 50 µs for appending one. The bounds here are ten times as
// wide, because other programs use the machine as well.
func TestSpeed(t *testing.T) {
	const records = 20_000
	dir, appending := makeLarge(t, records)
	began := processorTime(t)
	report, err := tables.Check(files.OS{}, dir)
	took := processorTime(t) - began
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, records, report.Records)
	t.Logf("measured: a table of %d records is checked in %v of processor time, and a record appended in %v", records,
		took.Round(time.Millisecond), (appending / records).Round(100*time.Nanosecond))
	require.Less(t, took, 10*time.Second/(100_000/records))
	require.Less(t, appending/records, 10*50*time.Microsecond)
}

func BenchmarkCheck(b *testing.B) {
	dir, _ := makeLarge(b, 100_000)
	began := processorTime(b)
	for b.Loop() {
		report, err := tables.Check(files.OS{}, dir)
		require.NoError(b, err)
		require.Equal(b, 100_000, report.Records)
	}
	b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op") // other programs use the machine as well
}
