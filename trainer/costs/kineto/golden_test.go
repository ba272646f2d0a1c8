package kineto

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// recorded holds two traces of PyTorch 2.11 and their exact sums.
const recorded = "../../../../shared/reference/steptimes/kineto"

// golden holds the sums of a trace, in microseconds as decimals.
type golden struct {
	Trace                      string
	Events, Operators, Threads int
	Span                       json.RawMessage   `json:"span_us"`
	OutermostLength            json.RawMessage   `json:"outermost_us"`
	Outermost                  int               `json:"outermost"`
	ByThread                   []goldenThread    `json:"by_thread"`
	Annotations                map[string]string `json:"annotations"`
	Flows                      int               `json:"flows"`
	FlowsUsed                  int               `json:"flows_used"`
	LongestPath                json.RawMessage   `json:"longest_path_us"`
	LongestPathNodes           int               `json:"longest_path_nodes"`
	ByName                     map[string]struct {
		Count int
		Total json.RawMessage `json:"total_us"`
		Own   json.RawMessage `json:"self_us"`
	} `json:"operators_by_name"`
}

type goldenThread struct {
	Operators, Outermost int
	Length               json.RawMessage `json:"outermost_us"`
}

func exact(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := microseconds(json.RawMessage(strings.Trim(text, `"`)))
	require.NoError(t, err)
	return d
}

// Decimal sums of the traces, computed by an independent program, are reproduced to the last digit.
func TestSumsAreExact(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(recorded, "golden.json"))
	if os.IsNotExist(err) {
		t.Skipf("no recorded traces in %s", recorded)
	}
	require.NoError(t, err)
	var all []golden
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all, 2)
	for _, g := range all {
		trace, err := Read(files.OS{}, filepath.Join(recorded, g.Trace))
		require.NoError(t, err)
		assert.Equal(t, g.Events, trace.Events)
		assert.Len(t, trace.Operators, g.Operators)
		assert.Len(t, trace.Flows, g.Flows)
		checkOutermost(t, &g, trace)
		for name, length := range g.Annotations {
			assert.Equal(t, exact(t, length), noteLength(trace, name), name)
		}
		totals := trace.totals()
		assert.Len(t, totals, len(g.ByName))
		for _, total := range totals {
			want := g.ByName[total.Name]
			assert.Equal(t, want.Count, total.Count, total.Name)
			assert.Equal(t, exact(t, string(want.Total)), total.Length, total.Name)
			assert.Equal(t, exact(t, string(want.Own)), total.Own, total.Name)
		}
		length, nodes, used := longestPath(trace)
		assert.Equal(t, exact(t, string(g.LongestPath)), length)
		assert.Equal(t, g.LongestPathNodes, nodes)
		assert.Equal(t, g.FlowsUsed, used)
	}
}

func noteLength(t *Trace, name string) (sum time.Duration) {
	for k := range t.Notes {
		if t.Notes[k].Name == name {
			sum += t.Notes[k].Length
		}
	}
	return sum
}

func checkOutermost(t *testing.T, g *golden, trace *Trace) {
	threads := map[int]*struct {
		operators, outermost int
		length               time.Duration
	}{}
	first, last, sum, count := time.Duration(1<<62), time.Duration(0), time.Duration(0), 0
	for k := range trace.Operators {
		o := &trace.Operators[k]
		if threads[o.Thread] == nil {
			threads[o.Thread] = &struct {
				operators, outermost int
				length               time.Duration
			}{}
		}
		thread := threads[o.Thread]
		thread.operators++
		first, last = min(first, o.Start), max(last, o.End())
		if o.Parent < 0 {
			thread.outermost++
			thread.length += o.Length
			sum, count = sum+o.Length, count+1
		}
	}
	assert.Equal(t, exact(t, string(g.Span)), last-first)
	assert.Equal(t, exact(t, string(g.OutermostLength)), sum)
	assert.Equal(t, g.Outermost, count)
	require.Len(t, threads, g.Threads)
	require.Len(t, g.ByThread, 1)
	for _, thread := range threads {
		assert.Equal(t, g.ByThread[0].Operators, thread.operators)
		assert.Equal(t, g.ByThread[0].Outermost, thread.outermost)
		assert.Equal(t, exact(t, string(g.ByThread[0].Length)), thread.length)
	}
}

// longestPath returns the longest path through the outermost operators, along threads and flows, the number of its
// operators, and the number of flows between two of them. Operators must be in the order of start times, which holds
// for a single thread.
func longestPath(t *Trace) (length time.Duration, nodes, used int) {
	into := map[int]int{}
	for _, f := range t.Flows {
		from, to := t.outermost(f.From), t.outermost(f.To)
		if from >= 0 && to >= 0 && from < to {
			into[to] = from
			used++
		}
	}
	best, count, before := map[int]time.Duration{}, map[int]int{}, -1
	for k := range t.Operators {
		if t.Operators[k].Parent >= 0 {
			continue
		}
		from := before
		if other, linked := into[k]; linked && best[other] > best[from] {
			from = other
		}
		best[k], count[k] = best[from]+t.Operators[k].Length, count[from]+1
		if best[k] > length {
			length, nodes = best[k], count[k]
		}
		before = k
	}
	return length, nodes, used
}

func (t *Trace) outermost(p Point) int {
	k := t.innermost(p.Thread, p.At)
	for k >= 0 && t.Operators[k].Parent >= 0 {
		k = t.Operators[k].Parent
	}
	return k
}

// total holds the sums over the operators of a name.
type total struct {
	Name   string
	Count  int           // number of calls
	Length time.Duration // sum of the durations
	Own    time.Duration // sum of the durations without the operators inside
}

// totals sums the operators by name, in the order of first calls.
func (t *Trace) totals() (all []total) {
	at := map[string]int{}
	for k := range t.Operators {
		o := &t.Operators[k]
		i, known := at[o.Name]
		if !known {
			i = len(all)
			at[o.Name], all = i, append(all, total{Name: o.Name})
		}
		sum := &all[i]
		sum.Count++
		sum.Length += o.Length
		sum.Own += o.Own
	}
	return all
}
