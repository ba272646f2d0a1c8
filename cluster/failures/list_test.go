package failures_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/failures"
	"graft/cluster/trace"
)

func TestListsOfOutages(t *testing.T) {
	list, err := failures.ParseList([]byte("\ufeffnode,from [s],to [s],kind,vc\n3,5,9,,a\n0,7,,drain,\"b,c\"\n"),
		"o.csv")
	require.NoError(t, err)
	require.Equal(t, []failures.Listed{{VC: "a", Node: 3, From: 5, To: 9}, {VC: "b,c", From: 7, Kind: "drain"}}, list)
}

// Invalid lists are refused with the file, the line and a remedy.
func TestInvalidLists(t *testing.T) {
	const header = "vc,node,from [s],to [s],kind,class,jobs\n"
	for text, want := range map[string]string{
		"": `o.csv:1: column "node" is missing; add it to the header`,
		"node,when\n": `o.csv:1: unknown column "when"; use the columns vc, node, from [s], ` +
			`to [s], kind, class, jobs`,
		"node,node\n":          `o.csv:1: duplicate column "node"; remove one`,
		header + "a,1,2,3,,\n": "o.csv:2: invalid CSV: wrong number of fields; correct the line",
		header + "\n\na,x,2,3,,,\n": `o.csv:4: node is "x": expected a whole number; correct the line, or ` +
			`name the cluster's nodes with failures.nodes`,
		header + "a,1,,3,,,\n":   `o.csv:2: from [s] is "": expected a whole number; correct the line`,
		header + "a,-1,2,3,,,\n": "o.csv:2: node is -1; must be between 0 and 999999; correct the line",
		header + "a,1,4,3,,,\n": "o.csv:2: to_seconds is 3; must be 0 or from from_seconds (4) to 274877906944; " +
			"correct the line",
		header + "a,1,1,0,,,\n": "o.csv:2: to [s] is 0: expected a later second; leave the cell empty if the node " +
			"does " +
			"not recover",
		header + "a,1,2,3,repair,,\n": `o.csv:2: kind is "repair"; must be "failure", "drain" or ` +
			`"unannounced-drain"; correct the line`,
		header + "a,\"1\n": "o.csv:2: invalid CSV: extraneous or missing \" in quoted-field; correct the " +
			"line",
	} {
		_, err := failures.ParseList([]byte(text), "o.csv")
		require.EqualError(t, err, want, text)
		require.ErrorIs(t, err, trace.ErrMalformed)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, o := range []failures.Options{
		{SpareNodes: 1}, {Restart: 5}, {File: "f", SpareNodes: -1}, {File: "f", Checkpoint: -1}, {File: "f",
			Restart: -1},
		{File: "f", Source: "draw"}, {File: "f", OnFailure: "stop"}, {File: "f", OnDrain: "stop"}, {FileNodes: 3},
		{File: "f", FileNodes: -3}, {File: "f", FileDays: -3}, {File: "f", RateFactor: 2}, {Source: "fit"},
		{Outages: []failures.Listed{{Node: -1}}}, {File: "f", Nodes: []string{"a", "a[1"}}, {File: "f",
			Nodes: []string{"a", "b,a"}}, {Nodes: []string{"a"}},
	} {
		require.Error(t, o.Validate(), "%+v", o)
	}
	for _, o := range []failures.Options{{}, {File: "f", Source: "fit", RateFactor: 2, FileNodes: 3, FileDays: 7.5},
		{Outages: []failures.Listed{{To: 3}}, SpareNodes: 2, OnFailure: "shrink", OnDrain: "preempt", Checkpoint: 60}} {
		require.NoError(t, o.Validate(), "%+v", o)
	}
}

// A feed of a random repeating schedule yields the node states that the schedule defines.
func TestFeedsFollowSchedules(t *testing.T) {
	for k := range 300 {
		r := rand.New(rand.NewPCG(9, uint64(k)))
		const nodes, last = 3, 200
		s := failures.Schedule{Start: r.Int64N(20), Period: 20 + r.Int64N(40)}
		draw := func(span int64) (list []failures.Outage) {
			for range r.IntN(6) {
				from := r.Int64N(span)
				list = append(list, failures.Outage{Node: r.IntN(nodes), From: from, To: from + r.Int64N(span/3)})
			}
			return list
		}
		s.Failures, s.Listed, s.Drains, s.Sudden = draw(s.Period), draw(last), draw(last), draw(last)
		s.Sudden = slices.DeleteFunc(s.Sudden, func(o failures.Outage) bool { return o.From == o.To })
		feed, failed, drained := failures.NewFeed(s), [nodes]int{}, [nodes]int{}
		for now := range int64(last) {
			for feed.Next() <= now {
				c := feed.Take()
				require.Equal(t, now, c.At, "case %d", k)
				switch c.What {
				case failures.Fails:
					failed[c.Node]++
				case failures.Recovers:
					failed[c.Node]--
				case failures.Drains:
					drained[c.Node]++
				case failures.Drained:
					drained[c.Node]--
				}
			}
			for n := range nodes {
				in := func(list []failures.Outage, at, end int64) bool {
					for _, o := range list {
						if o.Node == n && o.From <= at && at < min(o.To, end) {
							return true
						}
					}
					return false
				}
				down := in(s.Listed, now, last) || now >= s.Start && in(s.Failures, (now-s.Start)%s.Period, s.Period)
				require.Equal(t, down, failed[n] > 0, "case %d: node %d at second %d: %+v", k, n, now, s)
				drain := in(s.Drains, now, 2*last) || in(s.Sudden, now, 2*last)
				require.Equal(t, drain, drained[n] > 0, "case %d: node %d at second %d", k, n, now)
			}
		}
	}
}

// requirePlace checks that an error names the file, a line and a remedy.
func requirePlace(t *testing.T, err error) {
	t.Helper()
	var at *trace.Error
	require.ErrorAs(t, err, &at)
	require.Equal(t, "fuzz", at.Path)
	require.NotEmpty(t, at.Text)
	require.NotEmpty(t, at.Remedy)
	require.GreaterOrEqual(t, at.Line, 0)
}

// Fault traces may begin with a byte order mark, as tables of outages may.
func TestFaultTracesWithAMark(t *testing.T) {
	text := listOf(event("a", "1", "start"), event("a", "2", "end"))
	plain, err := failures.ParseRecord([]byte(text), "a.json", failures.ReadOptions{})
	require.NoError(t, err)
	marked, err := failures.ParseRecord([]byte("\ufeff"+text), "a.json", failures.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, plain, marked)
}

// The description of listed outages counts the outages that cannot affect the jobs, as with times in another unit.
func TestListedOutagesOutsideOfThePeriod(t *testing.T) {
	s := failures.Source{Listed: []failures.Listed{{From: 10, To: 20}, {From: 10}, {From: 100, To: 200},
		{From: 900, To: 950}}, Begin: 50, Last: 800}
	require.Equal(t, "4 listed outages (1 ended before the simulated period, 1 after the last submission of the trace)",
		s.String())
}

// FuzzParse checks that any text is refused with a place, or gives a trace that reads back.
func FuzzParse(f *testing.F) {
	f.Add([]byte(listOf(event("a", "1", "start"), event("b", "1.5", "start"), event("a", "2", "end"))))
	f.Add([]byte("[{\"event_time\": 1e308}]"))
	f.Add([]byte("[[[[[[[[[["))
	f.Add([]byte("[{\"node_id\": \"\\ud800\", \"event_time\": 0, \"event_type\": \"fault_start\"}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := failures.Parse(text, "fuzz", failures.ReadOptions{})
		if err != nil {
			requirePlace(t, err)
			return
		}
		s := got.Statistics()
		require.True(t, 0 <= s.Availability && s.Availability <= 1, s.Availability)
		require.LessOrEqual(t, s.Outages, s.Faults)
		require.Positive(t, s.Faults)
		var b strings.Builder
		require.NoError(t, got.Write(&b))
		again, err := failures.Parse([]byte(b.String()), "fuzz",
			failures.ReadOptions{Nodes: got.Total, Days: float64(got.Period) / 86_400})
		require.NoError(t, err)
		require.Equal(t, s.Availability, again.Statistics().Availability)
		if m := failures.Fit(got); m.Rate < 10 { // higher rates are slow
			_, err = m.Generate(failures.GenerateOptions{Nodes: 2, Period: 86_400})
			require.NoError(t, err)
		}
	})
}

// FuzzParseList checks that any text is refused with a place, or gives valid outages.
func FuzzParseList(f *testing.F) {
	f.Add([]byte("node,from [s],to [s]\n1,2,3\n"))
	f.Add([]byte("node,from [s],to [s],kind\n1,2,,drain\n\"1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := failures.ParseList(text, "fuzz")
		if err != nil {
			requirePlace(t, err)
			return
		}
		for k := range list {
			require.NoError(t, list[k].Validate())
		}
	})
}

// Samples of nodes without any outage have no durations: they do not count as outages of zero seconds.
func TestEstimatesOfFewFaults(t *testing.T) {
	few := &failures.Trace{Total: 6, Period: 12 * 86_400, Nodes: []failures.Node{
		{ID: "a", Faults: []failures.Fault{{From: 1000, To: 31_000}}},
		{ID: "b", Faults: []failures.Fault{{From: 5, To: 1005}}}}}
	list, err := failures.Fit(few).Estimates(few, 1, 20)
	require.NoError(t, err)
	for _, e := range list[:3] {
		require.GreaterOrEqual(t, e.Low, 1000.0, e.Name)
		require.LessOrEqual(t, e.High, 31_000.0, e.Name)
		require.GreaterOrEqual(t, e.Generated, 1000.0, e.Name)
	}
}
