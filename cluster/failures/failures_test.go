package failures_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/failures"
	"graft/cluster/trace"
)

// published returns the fault trace of InfiniteHBD. It skips the test if the file is missing.
func published(t *testing.T) (text []byte) {
	t.Helper()
	path := filepath.FromSlash("../../../shared/reference/faults/fault_trace.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("left out: there is no %s", path)
	}
	require.NoError(t, err)
	return text
}

const nodesOfTrace = 400

func parsed(t *testing.T, text []byte) *failures.Trace {
	t.Helper()
	got, err := failures.Parse(text, "faults.json", failures.ReadOptions{Nodes: nodesOfTrace})
	require.NoError(t, err)
	return got
}

// naive computes statistics from the raw events, with one counter of open faults per node.
func naive(t *testing.T, text []byte) (down int64, outages []int64, classes map[string]int, failing int) {
	t.Helper()
	var events []map[string]any
	require.NoError(t, json.Unmarshal(text, &events))
	open, since := map[string]int{}, map[string]int64{}
	classes, ended := map[string]int{}, map[string]int64{}
	for _, e := range events {
		node := e["node_id"].(string)
		at := int64(math.Floor(e["event_time"].(float64)*86_400 + 0.5))
		if e["event_type"] == "fault_start" {
			kind := e["fault_type"].(map[string]any)
			classes[kind["Level"].(string)+"/"+kind["Class"].(string)]++
			if open[node]++; open[node] == 1 {
				last, had := ended[node]
				if had && last == at { // the outage continues
					k := slices.Index(outages, at-since[node])
					outages = slices.Delete(outages, k, k+1)
				} else {
					since[node] = at
				}
			}
			continue
		}
		if open[node]--; open[node] == 0 {
			outages, ended[node] = append(outages, at-since[node]), at
		}
	}
	for _, d := range outages {
		down += d
	}
	return down, outages, classes, len(since)
}

// The statistics of the published trace agree, to the second, with a separate computation from its events.
func TestPublishedStatistics(t *testing.T) {
	text := published(t)
	trace := parsed(t, text)
	s := trace.Statistics()
	down, outages, classes, failing := naive(t, text)
	require.EqualValues(t, 349*86_400, trace.Period)
	require.Equal(t, 584, s.Faults)
	require.Equal(t, 231, failing)
	require.Equal(t, nodesOfTrace-failing, s.Never)
	var got []int64
	for k := range trace.Nodes {
		for _, o := range trace.Nodes[k].Outages() {
			got = append(got, o.To-o.From)
		}
	}
	slices.Sort(got)
	slices.Sort(outages)
	require.Equal(t, outages, got)
	all := float64(nodesOfTrace * trace.Period)
	require.InDelta(t, all-float64(down), s.Availability*all, 1e-3, "seconds of all nodes")
	require.Len(t, s.Classes, len(classes))
	for _, c := range s.Classes {
		require.Equal(t, classes[c.Level+"/"+c.Class], c.Faults, c.Class)
	}
	require.InDelta(t, float64(sum(outages))/float64(len(outages)), s.Duration.Mean, 1e-6)
	sorted := make([]float64, len(outages))
	for k, d := range outages {
		sorted[k] = float64(d)
	}
	require.InDelta(t, (sorted[290]+sorted[291])/2, s.Duration.Median, 1e-6)
	require.InDelta(t, sorted[522]+0.9*(sorted[523]-sorted[522]), s.Duration.P90, 1e-6) // 0.9·581 = 522.9
}

func sum(values []int64) (all int64) {
	for _, v := range values {
		all += v
	}
	return all
}

// For each statistic, the bootstrap interval of the published trace contains the mean over generated traces and at
// least 85 of 100 single traces.
func TestFitAgreesWithThePublishedTrace(t *testing.T) {
	trace := parsed(t, published(t))
	m := failures.Fit(trace)
	list, err := m.Estimates(trace, 1, 20)
	require.NoError(t, err)
	require.Len(t, list, 5)
	for _, e := range list {
		require.Less(t, e.Low, e.Trace, e.Name)
		require.Less(t, e.Trace, e.High, e.Name)
		require.GreaterOrEqual(t, e.Generated, e.Low, e.Name)
		require.LessOrEqual(t, e.Generated, e.High, e.Name)
	}
	inside := make([]int, len(list))
	repeated := 0
	for seed := range 100 {
		g, err := m.Generate(failures.GenerateOptions{Seed: uint64(seed)})
		require.NoError(t, err)
		s := g.Statistics()
		repeated += s.Overlapping
		for k, v := range []float64{s.Duration.Mean, s.Duration.Median, s.Duration.P90, s.PerNodeDay,
			float64(s.Never)} {
			if list[k].Low <= v && v <= list[k].High {
				inside[k]++
			}
		}
	}
	for k, n := range inside {
		require.GreaterOrEqual(t, n, 85, list[k].Name)
	}
	require.Positive(t, repeated, "no generated faults overlap")
}

// Faults of a node follow each other sooner than faults at a constant rate, in the trace and in generated traces.
func TestGeneratedFaultsComeInBursts(t *testing.T) {
	trace := parsed(t, published(t))
	soon := func(trace *failures.Trace) (share float64) {
		within, all := 0, 0
		for k := range trace.Nodes {
			list := trace.Nodes[k].Outages()
			for at := 1; at < len(list); at++ {
				if all++; list[at].From-list[at-1].To < 86_400 {
					within++
				}
			}
		}
		return float64(within) / float64(all)
	}
	m, generated := failures.Fit(trace), 0.0
	for seed := range 20 {
		g, err := m.Generate(failures.GenerateOptions{Seed: uint64(seed)})
		require.NoError(t, err)
		generated += soon(g) / 20
	}
	require.Greater(t, soon(trace), 0.3)
	require.InDelta(t, soon(trace), generated, 0.05)
}

// A larger factor, more nodes and a longer time give proportionally more faults.
func TestGenerateScales(t *testing.T) {
	m := failures.Fit(parsed(t, published(t)))
	faults := func(o failures.GenerateOptions) (n float64) {
		for seed := range 10 {
			o.Seed = uint64(seed)
			g, err := m.Generate(o)
			require.NoError(t, err)
			n += float64(g.Faults()) / 10
			for _, node := range g.Nodes {
				for _, f := range node.Faults {
					require.True(t, 0 <= f.From && f.From <= f.To && f.To <= g.Period)
				}
			}
		}
		return n
	}
	base := faults(failures.GenerateOptions{})
	for name, o := range map[string]failures.GenerateOptions{"nodes": {Nodes: 800}, "time": {Period: 2 * 349 * 86_400},
		"rate": {Factor: 2}} {
		require.InDelta(t, 2, faults(o)/base, 0.25, name)
	}
	for _, o := range []failures.GenerateOptions{{Nodes: -1}, {Factor: -1}, {Factor: 1001}, {Period: -1},
		{Nodes: trace.MaxNodes, Factor: 1000}, {Factor: math.NaN()}} {
		_, err := m.Generate(o)
		require.Error(t, err)
	}
}

// A written trace reads back unchanged, with the observed nodes and days.
func TestTracesReadBack(t *testing.T) {
	m := failures.Fit(parsed(t, published(t)))
	g, err := m.Generate(failures.GenerateOptions{Seed: 3})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, g.Write(&b))
	again, err := failures.Parse(b.Bytes(), "again.json", failures.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, g.Statistics(), again.Statistics())
	var second bytes.Buffer
	require.NoError(t, again.Write(&second))
	require.Equal(t, b.String(), second.String())
	wrong := strings.Replace(b.String(), `"observed_nodes": 400`, `"observed_nodes": -1`, 1)
	_, err = failures.Parse([]byte(wrong), "wrong.json", failures.ReadOptions{})
	require.ErrorContains(t, err, "wrong.json:2: observed_nodes, observed_days the number of observed nodes is -1")
}

// event returns an event of a trace as a line.
func event(node, at, what string) string {
	return `{"node_id": "` + node + `", "event_time": ` + at + `, "event_type": "fault_` + what +
		`", "fault_type": {"Level": "L", "Class": "C", "Desc": "D"}}`
}

func listOf(events ...string) string { return "[\n" + strings.Join(events, ",\n") + "\n]\n" }

// Invalid traces are refused with the file, the line and a remedy.
func TestInvalidTraces(t *testing.T) {
	for text, want := range map[string]string{
		"":    "f.json:1: expected a JSON list of events; begin the file with [",
		"{}":  "f.json:1: expected a JSON list of events; begin the file with [",
		"[]":  "f.json: the trace has no events; name another file",
		"[\n": "f.json:2: the list of events does not end; end the file with ]",
		"[\n3]": "f.json:2: is a JSON number; expected an object; correct or remove the " +
			"event",
		"[\n\n{\"node_id\": 3}]": "f.json:3: node_id is a JSON number; expected a text; correct or remove " +
			"the event",
		"[{}]": "f.json:1: event_time is missing; add the time in days",
		"[{\"event_time\": -1}]": "f.json:1: event_time is -1: expected days from 0 to 36600; correct or " +
			"remove the event",
		"[{\"event_time\": 1}]":         "f.json:1: node_id is missing; add the ID of the node",
		listOf(event("a", "1", "stop")): "f.json:2: event_type is missing or unknown; write fault_start or fault_end",
		listOf(event("a", "1", "end")): "f.json:2: event_type fault_end has no earlier fault_start of this node " +
			"and fault type; add the event fault_start, at time 0 if the fault began before the trace",
		listOf(event("a", "1", "start")) + "x": "f.json:4: unexpected text after the list of events; remove the text",
		listOf(event("a", "2", "start"), event("a", "1", "end")): "f.json:3: event_time is 1, before the time 2 of " +
			"the " +
			"previous event; sort the events by time",
		listOf(event("a", "2", "start"), event("b", "2", "start"), event("c", "2", "start")): "f.json: the trace has " +
			"3 faulty nodes, but the number of observed nodes is 2; correct the number of observed nodes",
		listOf(event("a", "9", "start")): "f.json: the last event is on day 9, but 8 days were observed; " +
			"correct the number of observed days",
		listOf(event(strings.Repeat("a", 5000), "1", "start")): "f.json:2: a text is longer than the limit of 4096 " +
			"bytes; shorten it",
	} {
		_, err := failures.Parse([]byte(text), "f.json", failures.ReadOptions{Nodes: 2, Days: 8})
		require.EqualError(t, err, want, text)
		require.ErrorIs(t, err, trace.ErrMalformed)
	}
}

// Faults of a node can overlap, touch, have no duration, and have no end.
func TestOutagesAreUnions(t *testing.T) {
	text := listOf(event("a", "1", "start"), event("a", "1", "start"), event("a", "2", "end"), event("a", "3", "end"),
		event("a", "3", "start"), event("a", "4", "end"), event("b", "5", "start"), event("b", "5", "end"),
		event("b", "6", "start"))
	got, err := failures.Parse([]byte(text), "f.json", failures.ReadOptions{Nodes: 3, Days: 8})
	require.NoError(t, err)
	const day = 86_400
	require.Equal(t, []failures.Outage{{From: day, To: 4 * day, Class: "C"}}, got.Nodes[0].Outages())
	require.Equal(t, []failures.Outage{{From: 5 * day, To: 5 * day, Class: "C"}, {From: 6 * day, To: 8 * day,
		Class: "C"}},
		got.Nodes[1].Outages())
	s := got.Statistics()
	require.Equal(t, 1, s.Overlapping)
	require.Equal(t, 1, s.Open)
	require.InDelta(t, 1-5.0/24, s.Availability, 1e-15)
	require.Equal(t, []failures.NodeCount{{0, 1}, {2, 1}, {3, 1}}, s.NodesByFaults)
}
