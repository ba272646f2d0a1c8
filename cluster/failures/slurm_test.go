package failures_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/failures"
	"graft/cluster/trace"
	"graft/internal/files"
)

// slurmText is the output of 'sacctmgr --parsable2 show event' of Slurm 22.05 with four nodes. The reason of n1
// contains a vertical bar.
const slurmText = `Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
test||2026-11-29T01:07:19|Unknown||Cluster Registered TRES|
test|n1|2026-11-29T01:07:58|2026-11-29T01:08:05|DRAIN|gpu a|b, xid|root(0)
test|n1|2026-11-29T01:09:29|2026-11-29T01:09:29|DOWN|while a job runs|root(0)
test|n2|2026-11-29T01:07:36|2026-11-29T01:08:09|DRAIN|idle drain|root(0)
test|n2|2026-11-29T01:08:09|Unknown|DRAIN*|idle drain|root(0)
test|n3|2026-11-29T01:07:37|2026-11-29T01:07:41|DOWN|broken|root(0)
test|n3|2026-11-29T01:09:18|Unknown|DOWN*|Not responding|root(0)
test|n4|2026-11-29T01:07:38|2026-11-29T01:08:06|FAIL|will fail|root(0)
test|n4|2026-11-29T01:08:08|2026-11-29T01:08:09|DRAIN|d1|root(0)
test|n4|2026-11-29T01:08:09|Unknown|DRAIN|d2|root(0)
`

// rawText has a part of the same events from 'sacctmgr --parsable show event' with the column StateRaw. Node n2 did not
// respond, and node n4 was down.
const rawText = `Cluster|NodeName|TimeStart|TimeEnd|State|StateRaw|Reason|User|
test|n1|2026-11-29T01:07:58|2026-11-29T01:08:05|DRAIN|514|gpu a|b, xid|root(0)|
test|n2|2026-11-29T01:08:09|Unknown|DRAIN*|2561|idle drain|root(0)|
test|n4|2026-11-29T01:08:09|Unknown|DRAIN|513|d2|root(0)|
`

// sourceOf writes a file of failures and reads it with options.
func sourceOf(t *testing.T, text string, o failures.Options) *failures.Source {
	t.Helper()
	o.File = filepath.Join(t.TempDir(), "events.txt")
	require.NoError(t, os.WriteFile(o.File, []byte(text), 0o666))
	s, err := o.Read(files.OS{})
	require.NoError(t, err)
	return s
}

// second returns a second of the day of the events.
func second(hours, minutes, seconds int64) int64 { return (hours*60+minutes)*60 + seconds }

// day is the date of second zero.
var day = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func TestSlurmEventsBecomeOutages(t *testing.T) {
	s := sourceOf(t, slurmText, failures.Options{})
	s.Start = day
	plans, err := s.Schedules([]trace.VC{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 1}}, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []failures.Outage{
		{Node: 0, From: second(1, 9, 29), To: second(1, 9, 29), Class: "while a job runs"},
		{Node: 2, From: second(1, 7, 37), To: second(1, 7, 41), Class: "broken"},
		{Node: 2, From: second(1, 9, 18), To: failures.Never, Class: "Not responding"},
	}, plans["a"].Listed)
	require.Equal(t, []failures.Outage{
		{Node: 0, From: second(1, 7, 58), To: second(1, 8, 5), Class: "gpu a|b, xid"},
		{Node: 1, From: second(1, 7, 36), To: second(1, 8, 9), Class: "idle drain"},
		{Node: 1, From: second(1, 8, 9), To: failures.Never, Class: "idle drain"},
	}, plans["a"].Sudden)
	require.Empty(t, plans["a"].Drains)
	require.Equal(t, []failures.Outage{{Node: 0, From: second(1, 7, 38), To: second(1, 8, 6), Class: "will fail"}},
		plans["b"].Listed)
	require.Equal(t, "4 failures and 5 unannounced drains of 4 nodes (Slurm events of events.txt)", s.String())
}

// The numeric state separates drained nodes that are down from drained nodes that work.
func TestNumericStates(t *testing.T) {
	s := sourceOf(t, rawText, failures.Options{})
	s.Start = day
	plans, err := s.Schedules([]trace.VC{{Name: "a", Nodes: 3}}, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []failures.Outage{{Node: 1, From: second(1, 8, 9), To: failures.Never, Class: "idle drain"},
		{Node: 2, From: second(1, 8, 9), To: failures.Never, Class: "d2"}}, plans["a"].Listed)
	require.Len(t, plans["a"].Sudden, 1)
}

// Events before second zero are cut or left out. Events of nodes that failures.nodes does not name are left out.
func TestSlurmEventsAreCut(t *testing.T) {
	s := sourceOf(t, slurmText, failures.Options{Nodes: []string{"x[1-2],n4", "n[1-2]"}})
	s.Start = day.Add(time.Duration(second(1, 8, 6)) * time.Second)
	plans, err := s.Schedules([]trace.VC{{Name: "a", Nodes: 5}}, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []failures.Outage{{Node: 3, From: 83, To: 83, Class: "while a job runs"}}, plans["a"].Listed)
	require.Equal(t, []failures.Outage{{Node: 4, To: 3, Class: "idle drain"}, {Node: 4, From: 3, To: failures.Never,
		Class: "idle drain"}, {Node: 2, From: 2, To: 3, Class: "d1"}, {Node: 2, From: 3, To: failures.Never,
		Class: "d2"}}, plans["a"].Sudden)
	require.Equal(t, "1 failure and 4 unannounced drains of 3 nodes (Slurm events of events.txt), without the "+
		"events of other nodes (n3), and without 3 events before second 0 of the trace", s.String())
	s.Last = 10
	require.Contains(t, s.String(), "; 1 event after the last submission of the trace")
}

// Lists of outages can name nodes if failures.nodes does.
func TestListsNameNodes(t *testing.T) {
	o := failures.Options{Nodes: []string{"ga[09-11]", "gv1"}, Outages: []failures.Listed{{VC: "b", Node: 0, From: 9}}}
	s := sourceOf(t, "vc,node,from [s],to [s],kind\n,ga10,5,7,unannounced-drain\nb,gv1,6,8,drain\na,0,7,,\n", o)
	vcs := []trace.VC{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 1}}
	plans, err := s.Schedules(vcs, 0, 0)
	require.NoError(t, err)
	require.Equal(t, failures.Schedule{Listed: []failures.Outage{{From: 7, To: failures.Never}},
		Sudden: []failures.Outage{{Node: 1, From: 5, To: 7}}}, plans["a"])
	require.Equal(t, failures.Schedule{Listed: []failures.Outage{{From: 9, To: failures.Never}},
		Drains: []failures.Outage{{From: 6, To: 8}}}, plans["b"])
	require.Equal(t, "4 listed outages", s.String())
}

// If names are numbers, nodes of a list are names.
func TestNodesWithNumbersAsNames(t *testing.T) {
	vcs := []trace.VC{{Name: "a", Nodes: 4}}
	s := sourceOf(t, "vc,node,from [s],to [s]\na,1,10,20\na,4,30,40\n", failures.Options{Nodes: []string{"[1-4]"}})
	plans, err := s.Schedules(vcs, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []failures.Outage{{Node: 0, From: 10, To: 20}, {Node: 3, From: 30, To: 40}}, plans["a"].Listed)
	path := filepath.Join(t.TempDir(), "list.csv")
	require.NoError(t, os.WriteFile(path, []byte("vc,node,from [s],to [s]\na,0,10,20\n"), 0o600))
	o := failures.Options{File: path, Nodes: []string{"[1-4]"}}
	_, err = o.Read(files.OS{})
	require.ErrorContains(t, err, `list.csv:2: node is "0", and failures.nodes has numbers as names: expected one of `+
		"its names; correct the line or failures.nodes")
}

// Files that do not fit the cluster are refused with a remedy.
func TestFilesThatDoNotFitTheCluster(t *testing.T) {
	vcs := []trace.VC{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 2}}
	for want, c := range map[string]struct {
		text  string
		nodes string
		start time.Time
	}{
		"events.txt has dates, but the trace of jobs has none; simulate a trace with dates": {text: slurmText},
		"names 4 nodes, but the cluster has 3 without spare nodes; list all nodes of the cluster in failures.nodes " +
			`in their order, such as ["ga[01-12]"]`: {text: slurmText, start: day},
		"failures.nodes has 5 names, but the cluster has 3 nodes without spare nodes; list each node": {text: slurmText,
			nodes: "n[1-5]", start: day},
		"failures.nodes has 2 names, but the cluster has 3 nodes": {text: slurmText, nodes: "n[1-2]", start: day},
		`events.txt:2: unknown virtual cluster "x"; set vc to one of a, b`: {
			text: "vc,node,from [s],to [s]\nx,0,1,2\n"},
		`events.txt:3: virtual cluster "b" has no node 2; use the numbers 0 to 1`: {
			text: "vc,node,from [s],to [s]\nb,1,1,2\nb,2,1,2\n"},
		`events.txt:2: vc is "a", but node n2 is in "b"; correct vc`: {
			text: "vc,node,from [s],to [s]\na,n2,1,2\n", nodes: "n[1-3]"},
	} {
		o := failures.Options{}
		if c.nodes != "" {
			o.Nodes = []string{c.nodes}
		}
		s := sourceOf(t, c.text, o)
		s.Start = c.start
		_, err := s.Schedules(vcs, 0, 0)
		require.ErrorContains(t, err, want)
	}
}

// Options that do not fit the format of the file are refused with a remedy.
func TestOptionsThatDoNotFitTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for want, c := range map[string]struct {
		text string
		o    failures.Options
	}{
		"but file_nodes, file_days and source = \"replay\" are for fault traces of other clusters; remove": {slurmText,
			failures.Options{FileDays: 3}},
		"lists the outages of this cluster's nodes": {"node,from [s],to [s]\n0,1,2\n",
			failures.Options{Source: failures.Replay}},
		"which is assigned to nodes at random, but failures.nodes is set; remove it (--set failures.nodes=[])": {
			listOf(event("a", "1", "start")),
			failures.Options{Nodes: []string{"a"}}},
		"has no events of the nodes in failures.nodes, but of nodes such as n1, n2, n3 and 1 more; correct": {slurmText,
			failures.Options{Nodes: []string{"m[1-4]"}}},
		`f:2: node is "c": expected a whole number or a known node name; correct`: {"node,from [s],to [s]\nc,1,2\n",
			failures.Options{Nodes: []string{"a"}}},
		"f:1: unknown format of failures; name a fault trace (a JSON list of events), a CSV table of outages with " +
			"the columns node, from [s] and to [s], or the output of 'sacctmgr --parsable2 show event'": {
			text: "a,b\n1,2\n"},
	} {
		c.o.File = path
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o666))
		_, err := c.o.Read(files.OS{})
		require.ErrorContains(t, err, want)
	}
}

// With source = "fit", a model observes the failures of a list from the begin to the last submission. Each seed
// draws other failures, at the observed rate times the factor, and drains stay as they are.
func TestListsAreFitted(t *testing.T) {
	const begin, last = 500, 500 + 40*86_400
	for name, text := range map[string]string{
		"numbers": "node,from [s],to [s],kind\n0,100,500,failure\n1,200,1000,failure\n" + // one ends at the begin
			"2,90000,93600,failure\n3,800000,803600,failure\n3,100,,drain\n0,9000000,9000100,failure\n",
		"names": "node,from [s],to [s],kind\na0,100,400,failure\na1,200,1000,failure\n" +
			"a2,90000,93600,failure\na3,800000,803600,failure\na3,100,,drain\na0,9000000,9000100,failure\n",
	} {
		for _, factor := range []float64{0, 2} {
			path := filepath.Join(t.TempDir(), "list")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
			o := failures.Options{File: path, Source: failures.FromFit, RateFactor: factor}
			if name == "names" {
				o.Nodes = []string{"a[0-9]"}
			}
			s, err := o.Read(files.OS{})
			require.NoError(t, err)
			s.Last = last
			vcs := []trace.VC{{Name: "v", Nodes: 10}}
			require.NoError(t, s.FitRows(vcs, begin))
			require.Equal(t, "faults drawn from a model fitted to list (3 faults of 10 nodes in 40.0 days), and 1 "+
				"drain of the file", s.String())
			drawn := 0
			for seed := range uint64(400) {
				plans, err := s.Schedules(vcs, begin, seed)
				require.NoError(t, err)
				p := plans["v"]
				require.Len(t, p.Sudden, 0)
				require.Equal(t, []failures.Outage{{Node: 3, From: 100, To: failures.Never}}, p.Drains)
				require.EqualValues(t, begin, p.Start)
				require.EqualValues(t, last-begin, p.Period)
				drawn += len(p.Failures)
			}
			require.InDelta(t, 3*max(1, factor), float64(drawn)/400, 0.35, "failures per period")
		}
	}
	path := filepath.Join(t.TempDir(), "drains")
	require.NoError(t, os.WriteFile(path, []byte("node,from [s],to [s],kind\n0,100,400,drain\n"), 0o666))
	o := failures.Options{File: path, Source: failures.FromFit}
	s, err := o.Read(files.OS{})
	require.NoError(t, err)
	s.Last = last
	require.ErrorContains(t, s.FitRows([]trace.VC{{Name: "v", Nodes: 10}}, begin),
		"has failures of 0 of 10 nodes in the simulated period")
}

// A failure of zero seconds at second 0, which outages.csv of a simulation can list, has an end. Drains of zero seconds
// have no effect.
func TestOutagesOfZeroSeconds(t *testing.T) {
	const text = "vc,node,from [s],to [s],kind\nv,0,0,0,failure\nv,1,0,,failure\nv,2,0,0,drain\nv,2,7,7,drain\n" +
		"v,2,8,8,unannounced-drain\nv,2,9,9,failure\n"
	s, vcs := sourceOf(t, text, failures.Options{}), []trace.VC{{Name: "v", Nodes: 3}}
	plans, err := s.Schedules(vcs, 0, 0)
	require.NoError(t, err)
	require.Equal(t, failures.Schedule{Listed: []failures.Outage{{}, {Node: 1, To: failures.Never},
		{Node: 2, From: 9, To: 9}}}, plans["v"])
	r, err := failures.ParseRecord([]byte(text), "o", failures.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []failures.Fault{{}}, r.Nodes[0].Faults)
	require.Equal(t, []failures.Fault{{To: 86_400, Open: true}}, r.Nodes[1].Faults)
	s = sourceOf(t, text, failures.Options{Source: failures.FromFit})
	s.Last = 86_400
	require.NoError(t, s.FitRows(vcs, 0))
	require.Equal(t, []failures.Fault{{}}, s.Trace.Nodes[0].Faults)
}

// Node states count as failures or drains, as Slurm 22.05 and later versions print them.
func TestStatesOfSlurm(t *testing.T) {
	for state, failure := range map[string]bool{"DOWN": true, "DOWN*": true, "DOWN$": true, "DOWN+DRAIN": true,
		"IDLE+DRAIN": false, "MIXED+DRAIN+NOT_RESPONDING": true, "DRAIN*": false, "DRAINED": false, "DRAINING@": false,
		"drained": false, "FAIL": true, "FAILING*": true, "ERROR": true, "INVAL": true, "REBOOT^": true, "MAINT": false,
		"IDLE+MAINTENANCE+RESERVED": false, "DOWN*+REBOOT_ISSUED": true} {
		r, err := failures.ParseRecord([]byte(strings.ReplaceAll("NodeName|TimeStart|TimeEnd|State\n"+
			"n|2026-11-29T01:07:19|2026-11-29T01:07:20|STATE\n", "STATE", state)), "e", failures.ReadOptions{})
		require.NoError(t, err, state)
		require.Equal(t, failure, len(r.Nodes) == 1, state)
		require.Equal(t, failure, len(r.Drains.Nodes) == 0, state)
	}
}

// Dates can have a time zone, or be seconds since 1970.
func TestDatesOfSlurm(t *testing.T) {
	for _, date := range []string{"2026-11-29T01:00:00", "2026-11-29T01:00:00Z", "2026-11-29T03:00:00+02:00",
		"2026-11-28T23:30:00-0130", "1795914000"} {
		text := "\ufeffNodeName|TimeStart|TimeEnd|State\r\nn|" + date + "|Unknown|DOWN\r\n"
		r, err := failures.ParseRecord([]byte(text), "e", failures.ReadOptions{Days: 2})
		require.NoError(t, err, date)
		require.Equal(t, failures.Fault{From: 3600, To: 2 * 86_400, Class: "DOWN", Open: true}, r.Nodes[0].Faults[0])
		require.Equal(t, day, r.Start)
	}
}

// Damaged files are refused with the line, the cause and a remedy.
func TestDamagedSlurmFiles(t *testing.T) {
	const (
		header = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
		row    = "c|n1|2026-11-29T01:07:58|2026-11-29T01:08:05|DOWN|r|u\n"
		begin  = header + row
		print  = "print the events with 'sacctmgr --parsable2 show event'"
		remedy = "; correct or remove the line"
		name   = ": expected the name of a node" + remedy
		state  = ": expected DOWN, FAIL, DRAIN or a combination with them" + remedy
		date   = ": expected a date such as 2026-05-01T00:03:37"
		end    = date + " or Unknown" + remedy
	)
	replaced := func(old, new string) string { return begin + strings.Replace(row, old, new, 1) }
	long := strings.Repeat("x", 1<<16)
	for text, want := range map[string]string{
		header: "e: the file has no events of nodes; choose a longer period, as in 'sacctmgr --parsable2 show event " +
			"Start=2025-01-01'",
		header + "c||2026-11-29T01:07:19|Unknown||Cluster Registered TRES|\n": "e: the file has no events of nodes; " +
			"choose a longer period, as in 'sacctmgr --parsable2 show event Start=2025-01-01'",
		"   Cluster NodeName   TimeStart  TimeEnd  State\n": "e:1: the columns are not separated by |; " + print,
		row:                                  "e:1: column NodeName is missing; " + print + ", with its header",
		"NodeName|TimeStart|State\n" + row:   "e:1: column TimeEnd is missing; " + print + ", with its header",
		"NodeName|NodeName|State\n" + row:    `e:1: duplicate column "NodeName"; remove one`,
		"JobID|Submit|State\n1|2|3\n":        "e:1: column NodeName is missing; " + print + ", with its header",
		begin + "c|n1|2026-11-29T01:07:58\n": "e:3: the line has 3 fields, expected 7" + remedy,
		begin + "graft: error\n":             "e:3: the line has 1 field, expected 7" + remedy,
		replaced("c|", "d|"): `e:3: Cluster is "d", but the file also has events of "c"; print one cluster ` +
			`with 'sacctmgr --parsable2 show event Clusters=NAME'`,
		replaced("n1", "n 1"):                      `e:3: NodeName is "n 1"` + name,
		replaced("n1", "n[1-4]"):                   `e:3: NodeName is "n[1-4]"` + name,
		replaced("n1", long[:256]):                 `e:3: NodeName is "` + long[:40] + `"` + name,
		replaced("DOWN", ""):                       `e:3: State is ""` + state,
		replaced("DOWN", "IDLE"):                   `e:3: State is "IDLE"` + state,
		replaced("DOWN", "DOWNX"):                  `e:3: State is "DOWNX"` + state,
		replaced("2026-11-29T01:07:58", "Unknown"): `e:3: TimeStart is "Unknown"` + date + remedy,
		replaced("01:07:58", "25:07:58"):           `e:3: TimeStart is "2026-11-29T25:07:58"` + date + remedy,
		replaced("11-29", "02-30"):                 `e:3: TimeStart is "2026-02-30T01:07:58"` + date + remedy,
		replaced("2026-11-29T01:08:05", ""):        `e:3: TimeEnd is ""` + end,
		replaced("2026-11-29T01:08:05", "-5"):      `e:3: TimeEnd is "-5"` + end,
		replaced("01:08:05", "00:07:05"): "e:3: TimeEnd is 2026-11-29T00:07:05, before TimeStart 2026-11-29T01:07:58" +
			remedy,
		replaced("|r|", "|"+long[:5000]+"|"):        "e:3: Reason is longer than the limit of 4096 bytes; shorten it",
		replaced("|r|", "|"+long+"|"):               "e:3: the line is longer than the limit of 65536 bytes" + remedy,
		strings.Replace(rawText, "|514|", "|x|", 1): `e:2: StateRaw is "x": expected a whole number` + remedy,
	} {
		_, err := failures.ParseRecord([]byte(text), "e", failures.ReadOptions{})
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, trace.ErrMalformed)
	}
}

// The expected statistics were computed by hand for one day that begins at midnight.
func TestRecordsOfSlurm(t *testing.T) {
	r, err := failures.ParseRecord([]byte(slurmText+slurmText), "e", failures.ReadOptions{Nodes: 5}) // 2 headers
	require.NoError(t, err)
	require.Equal(t, 2, r.Others)
	require.Equal(t, day, r.Start)
	require.EqualValues(t, 86_400, r.Period)
	s, open := r.Statistics(), float64(86_400-second(1, 9, 18))
	require.Equal(t, 5, s.Nodes)
	require.Equal(t, 2, s.Never)
	require.Equal(t, 4, s.Outages)
	require.InDelta(t, 1-(4+open+28)/5/86_400, s.Availability, 1e-12)
	drained := float64(7+33) + 86_400 - float64(second(1, 8, 9)) + 86_400 - float64(second(1, 8, 8))
	require.InDelta(t, 1-(4+open+28+drained)/5/86_400, r.InService(), 1e-12)
	worst := r.Worst(2)
	require.Equal(t, []failures.NodeOutages{{Node: "n3", Failures: 2, Hours: (4 + open) / 3600}, {Node: "n4",
		Failures: 1,
		Hours:    28.0 / 3600, Drains: 1, DrainHours: (86_400 - float64(second(1, 8, 8))) / 3600}}, worst)
}

// A list of outages numbers its nodes from 0, so nodes without outages count. Names of nodes count once.
func TestRecordsOfLists(t *testing.T) {
	const header = "vc,node,from [s],to [s],kind\n"
	for text, nodes := range map[string]int{"a,3,0,5,\n": 4, "a,3,0,5,\nb,0,1,2,drain\n": 5,
		"a,n3,0,5,\na,n3,7,8,\n": 1,
		"a,2,0,5,\na,n,7,8,\n":   4} {
		r, err := failures.ParseRecord([]byte(header+text), "o", failures.ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, nodes, r.Statistics().Nodes, text)
		require.EqualValues(t, 86_400, r.Period)
	}
	for want, o := range map[string]failures.ReadOptions{
		"o: the file has outages of 5 nodes, but the number of observed nodes is 4; correct the number of observed " +
			"nodes": {Nodes: 4},
		"o: the last event is on day 2, but 1 days were observed; correct the number of observed days": {Days: 1},
	} {
		_, err := failures.ParseRecord([]byte(header+"a,3,0,172800,\nb,0,1,2,drain\n"), "o", o)
		require.EqualError(t, err, want)
	}
	_, err := failures.ParseRecord([]byte(header), "o", failures.ReadOptions{})
	require.EqualError(t, err, "o: the file has no outages in the observed period; name another file or an earlier "+
		"start")
}

// Rows that repeat an earlier row count once. Equal faults of a fault trace can belong to several devices of a node, so
// each counts, but they form one outage.
func TestEqualOutages(t *testing.T) {
	for text, faults := range map[string]int{
		slurmText + slurmText: 4,
		"node,from [s],to [s],class\nn,0,5,GPU\nn,0,5,GPU\nn,0,5,Fan\nn,7,8,GPU\n":                                 3,
		listOf(event("a", "1", "start"), event("a", "1", "start"), event("a", "2", "end"), event("a", "2", "end")): 2,
	} {
		r, err := failures.ParseRecord([]byte(text), "e", failures.ReadOptions{})
		require.NoError(t, err)
		s := r.Statistics()
		require.Equal(t, faults, s.Faults, text)
		if r.Format == failures.FaultTrace {
			require.Equal(t, []int{1, 1}, []int{s.Overlapping, s.Outages})
		}
	}
	s := sourceOf(t, "node,from [s],to [s]\n0,1,5\n0,1,5\n", failures.Options{})
	require.Equal(t, "1 listed outage", s.String())
}

// FuzzParseRecord checks that any text is refused with a place, or gives outages within the observed time.
func FuzzParseRecord(f *testing.F) {
	for _, text := range []string{slurmText, rawText, "NodeName|TimeStart|TimeEnd|State\nn|1|1|DOWN\n",
		"vc,node,from [s],to [s],kind\na,b,1,,drain\n", "Cluster|NodeName", "|\n|||", "\ufeff\n\n\"node\"\n",
		listOf(event("a", "1", "start"))} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := failures.ParseRecord(text, "fuzz", failures.ReadOptions{})
		if err != nil {
			requirePlace(t, err)
			return
		}
		traces := []*failures.Trace{r.Trace}
		if r.Drains != nil {
			traces = append(traces, r.Drains)
			require.True(t, 0 <= r.InService() && r.InService() <= r.Statistics().Availability)
			require.LessOrEqual(t, len(r.Worst(3)), 3)
		}
		for _, one := range traces {
			require.LessOrEqual(t, len(one.Nodes), one.Total)
			for _, n := range one.Nodes {
				for _, o := range n.Faults {
					require.True(t, 0 <= o.From && o.From <= o.To && o.To <= one.Period, "%+v of %d", o, one.Period)
				}
			}
			require.False(t, math.IsNaN(one.Statistics().Availability))
		}
	})
}

// Clocks go back by an hour at the end of daylight saving time. Local times of an event can then be in the wrong order.
// An hour is added to its end, and the description counts such events, each once.
func TestClocksThatGoBack(t *testing.T) {
	const event = "test|n1|2026-10-25T02:50:00|2026-10-25T02:10:00|DOWN|broken|root(0)\n"
	text := "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" + event + event +
		"test|n2|2026-10-25T02:50:00|2026-10-25T02:55:00|DOWN|broken|root(0)\n"
	s := sourceOf(t, text, failures.Options{})
	s.Start = time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
	plans, err := s.Schedules([]trace.VC{{Name: "a", Nodes: 2}}, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []failures.Outage{{From: second(2, 50, 0), To: second(3, 10, 0), Class: "broken"},
		{Node: 1, From: second(2, 50, 0), To: second(2, 55, 0), Class: "broken"}}, plans["a"].Listed)
	const moved = "1 event with an end up to an hour before the start, as at the end of daylight saving time; an " +
		"hour was added to the end"
	require.Equal(t, "2 failures and 0 unannounced drains of 2 nodes (Slurm events of events.txt); "+moved, s.String())
	r, err := failures.ParseRecord([]byte(text), "e", failures.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, r.Shifted)
	require.Equal(t, moved, failures.ShiftedText(r.Shifted))
	for _, times := range []string{"2026-10-25T02:50:00Z|2026-10-25T02:10:00Z", "1792896600|1792894200",
		"2026-10-25T03:10:01|2026-10-25T02:10:00"} {
		_, err = failures.ParseRecord([]byte(strings.ReplaceAll(text, "2026-10-25T02:50:00|2026-10-25T02:10:00",
			times)), "e", failures.ReadOptions{})
		require.ErrorContains(t, err, "before TimeStart", times)
	}
}
