package tables_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
)

// killedDir is the environment variable that makes the test binary write a table until it is killed.
const killedDir = "GRAFT_TEST_TABLE"

// crumbs is a file system that writes a few bytes at a time, and slowly, so a kill falls into the middle of a line.
type crumbs struct{ unsynced }

type crumbsFile struct{ files.File }

func (c crumbs) Append(path string) (files.File, error) {
	f, err := c.unsynced.Append(path)
	if err != nil {
		return nil, err
	}
	return crumbsFile{f}, nil
}

func (f crumbsFile) Write(p []byte) (int, error) {
	for at := 0; at < len(p); at += 16 {
		time.Sleep(20 * time.Microsecond)
		if n, err := f.File.Write(p[at:min(at+16, len(p))]); err != nil {
			return at + n, err
		}
	}
	return len(p), nil
}

// TestWritesUntilItIsKilled is the process that the next test starts. It prints each seed that it has committed, and
// continues where the table ends.
func TestWritesUntilItIsKilled(t *testing.T) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		return
	}
	w, err := tables.Open(crumbs{}, dir, tables.WriterOptions{Name: "a"})
	require.NoError(t, err)
	known := map[int64]bool{}
	table, err := tables.Read(files.OS{}, dir)
	require.NotNil(t, table, "%v", err) // a torn line belongs to another process
	for _, r := range table.Records {
		for _, seed := range r.Seeds {
			known[seed] = true
		}
	}
	for seed := int64(1); ; seed++ {
		if known[seed] {
			continue
		}
		e := entry(int(seed%4), seed)
		require.NoError(t, w.Append(e.Key, e.Record))
		_, err := os.Stdout.WriteString("seed " + strconv.FormatInt(seed, 10) + "\n")
		require.NoError(t, err)
	}
}

// writeAndKill runs a process that writes, and kills it when it has committed a number of records, or a moment later.
// It returns the committed seeds.
func writeAndKill(t *testing.T, dir string, records int, later time.Duration) (seeds []int64) {
	p := exec.Command(os.Args[0], "-test.run=^TestWritesUntilItIsKilled$")
	p.Env = append(os.Environ(), killedDir+"="+dir)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "seed "); ok {
			seed, err := strconv.ParseInt(text, 10, 64)
			require.NoError(t, err, "%q", text)
			seeds = append(seeds, seed)
		}
		if len(seeds) == records {
			time.Sleep(later)
			require.NoError(t, p.Process.Kill())
		}
	}
	require.Error(t, p.Wait(), "it was killed")
	return seeds
}

// If two processes write the same runs to one table and are killed again and again, no committed record is lost or
// changed.
func TestKilledWritersLoseNothing(t *testing.T) {
	const atOnce = 2
	rounds := 8
	if os.Getenv("GRAFT_LONG") != "" {
		rounds = 55
	}
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	random := rand.New(rand.NewPCG(3, 4))
	committed := map[int64]bool{}
	torn := 0
	for range rounds {
		var mu sync.Mutex
		var both sync.WaitGroup
		for range atOnce {
			records, later := 1+random.IntN(8), time.Duration(random.IntN(1000))*time.Microsecond
			both.Go(func() {
				seeds := writeAndKill(t, dir, records, later)
				mu.Lock()
				defer mu.Unlock()
				for _, seed := range seeds {
					committed[seed] = true
				}
			})
		}
		both.Wait()
		torn += requireCommitted(t, dir, committed)
	}
	write(t, dir, "a")
	write(t, dir, "b")
	t.Logf("measured: %d kills, %d of which left a torn line, and %d runs were committed and are there", rounds*atOnce,
		torn, len(committed))
}

// requireCommitted checks that all these seeds are in a table, and that its only faults are torn lines. It returns
// their number.
func requireCommitted(t *testing.T, dir string, seeds map[int64]bool) (torn int) {
	report := check(t, dir)
	for _, f := range report.Faults {
		require.Equal(t, tables.Torn, f.Kind, "%v", f)
	}
	requireOriginals(t, report.Table)
	there := map[int64]bool{}
	for _, r := range report.Table.Records {
		for _, seed := range r.Seeds {
			there[seed] = true
		}
	}
	for seed := range seeds {
		require.True(t, there[seed], "seed %d was committed", seed)
	}
	return len(report.Faults)
}

// While many writers add the same runs, a reader sees a sound table that never shrinks.
func TestManyWriteAndOneReads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(unsynced{}, dir, small, tables.CreateOptions{}))
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			w, err := tables.Open(crumbs{}, dir, tables.WriterOptions{Name: []string{"x", "y"}[n%2]})
			if err != nil {
				t.Error(err)
				return
			}
			for seed := range int64(50) {
				e := entry(int(seed)%4, seed/2*int64(1+n%2)) // many of them twice
				if err := w.Append(e.Key, e.Record); err != nil {
					t.Error(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for records, looks := 0, 0; ; looks++ {
		report := check(t, dir)
		for _, f := range report.Faults { // written at this moment
			require.Contains(t, []tables.FaultKind{tables.Torn, tables.Missing}, f.Kind, "%v", f)
		}
		requireOriginals(t, report.Table)
		require.GreaterOrEqual(t, report.Records, records)
		records = report.Records
		select {
		case <-done:
			report = check(t, dir)
			require.NoError(t, report.Err())
			require.Len(t, report.Table.Records, 4)
			t.Logf("measured: %d looks at a table while four wrote it, %d runs in the end", looks, report.Records)
			return
		default:
		}
	}
}
