package elastic_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

func TestOptionsListAllFaults(t *testing.T) {
	o := elastic.Options{Nodes: -1, PerNode: elastic.Resources{-1, 8}, Most: 1 << 20, Slot: math.NaN(), SpeedError: 1,
		Limit: -1, Reward: 7, Scaling: "magic", Quirks: []string{"none", elastic.NoCost.Name}}
	require.EqualError(t, o.Validate(), strings.Join([]string{
		"the number of nodes is -1; expected 1 to 1048576",
		"the number of CPU slots per node is -1; expected 0 to 1048576",
		"the maximum number of workers per job is 1048576; expected 1 to 1024",
		"the slot length is NaN s; expected more than 0 and at most 1e+09",
		"the relative speed error is 1; expected at least 0 and less than 1",
		"the limit is -1 slots; expected at least 0 (0 means no limit)",
		"unknown reward 7; expected Progress or Unfinished",
		`unknown scaling cost "magic"; expected one of: none, checkpoint, hot`,
		"unknown quirks none; expected any of first-node, stale-share, backward, remaining-fraction, " +
			"longest-first, no-cost",
	}, "\n"))
}

func TestDefaultOptions(t *testing.T) {
	for _, o := range []elastic.Options{{}, elastic.Compatible()} {
		o.EnsureDefaults()
		require.NoError(t, o.Validate())
		require.Equal(t, 96, o.Nodes)
		require.Equal(t, elastic.Resources{8, 8}, o.PerNode)
		require.InDelta(t, 1200, o.Slot, 0)
	}
}

func TestStudiesThatCannotRun(t *testing.T) {
	cases := map[string]struct {
		change func(s *elastic.Study)
		want   string
	}{
		"a job that never fits": {func(s *elastic.Study) { s.Types[0].Worker = elastic.Resources{7, 0} },
			"simulate elastic jobs: job 7 of type m can never run: its first tasks need 9 CPU and 0 GPU slots on one " +
				"node, but a node has 8 and 8; use larger nodes, or remove the job"},
		"no jobs": {func(s *elastic.Study) { s.Jobs = nil }, "the workload has 0 jobs; expected 1 to"},
		"an ID twice": {func(s *elastic.Study) { s.Jobs = append(s.Jobs, s.Jobs[0]) },
			"job 7: duplicate ID; renumber the jobs"},
		"an unknown type": {func(s *elastic.Study) { s.Jobs[0].Type = 2 }, "job 7: type is 2; expected 1 to 1"},
		"a negative arrival": {func(s *elastic.Study) { s.Jobs[0].Arrival = -1 },
			"job 7: arrv_time is -1; expected a slot from 0 to 1048576"},
		"no estimate": {func(s *elastic.Study) { s.Jobs[0].Epochs = 0 }, "job 7: num_epochs is 0; expected more than " +
			"0 " +
			"and at most 1e+12"},
		"endless work": {func(s *elastic.Study) { s.Jobs[0].RealEpochs = math.Inf(1) },
			"job 7: real_num_epochs is +Inf"},
		"no speeds": {func(s *elastic.Study) { s.Speed = nil }, "the study has no speed model"},
		"a model without data": {func(s *elastic.Study) { s.Speed = elastic.Table{} },
			"the speed table has no speeds for model m; add them"},
		"a table too small": {func(s *elastic.Study) { s.Options.Most = 21 },
			"the speed table of m does not cover 21 servers and workers"},
		"no constants": {func(s *elastic.Study) { s.Speed = elastic.Analytic{} },
			"type m: the analytic speed model needs a compute time, a model size and bandwidths"},
		"negative demand": {func(s *elastic.Study) { s.Types[0].Server = elastic.Resources{-1, 0} },
			"type m demands [-1 0] CPU and GPU slots; expected 0 to"},
		"no epoch size": {func(s *elastic.Study) { s.Types[0].EpochSize = 0 },
			"type m: epoch_size is 0; expected a positive number"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := studyOf(job(7, 0))
			c.change(&s)
			_, err := elastic.NewWorld(s)
			require.ErrorContains(t, err, c.want)
			_, err = elastic.LowerBound(s)
			require.ErrorContains(t, err, strings.TrimPrefix(c.want, "simulate elastic jobs: "))
		})
	}
}

func TestFewFaultyJobsAreListed(t *testing.T) {
	s := studyOf()
	for id := range 100 {
		s.Jobs = append(s.Jobs, elastic.Spec{ID: id})
	}
	_, err := elastic.NewWorld(s)
	require.Equal(t, 20, strings.Count(err.Error(), "expected 1 to 1"))
	require.ErrorContains(t, err, "the remaining jobs were not checked")
}

func TestOverrides(t *testing.T) {
	s, err := elastic.ParseOverrides(nil)
	require.NoError(t, err)
	require.Equal(t, 500, s.Options.Nodes)
	require.Equal(t, 40, s.Window)
	require.Equal(t, elastic.NoScaling, s.Options.Scaling)
	require.False(t, s.Analytic)
	s, err = elastic.ParseOverrides(map[string]any{
		"LARGE_SCALE": false, "CLUSTER_NUM_NODES": 48.0, "PS_WORKER": false, "REAL_SPEED_TRACE": false,
		"FINE_GRAIN_JCT":             false,
		"NUM_UNCOMPLETED_JOB_REWARD": true, "FIX_JOB_LEN": false, "JOB_ARRIVAL_PATTERN": "Poisson",
		"TRAIN_SPEED_ERROR": 0.1,
	})
	require.NoError(t, err)
	require.Equal(t, elastic.Options{Nodes: 48, PerNode: elastic.Resources{8, 8}, Most: 16, Slot: 1200, AllReduce: true,
		Scaling: "none", SpeedError: 0.1, Reward: elastic.Unfinished, WholeSlots: true}, s.Options)
	require.Equal(t, elastic.GenerateOptions{Jobs: 60, Rate: 3, MaxEpochs: 30_000, Arrivals: elastic.PoissonArrivals,
		Jitter: true}, s.Generate)
	require.True(t, s.Analytic)
}

func TestOverridesThatAreWrong(t *testing.T) {
	_, err := elastic.ParseOverrides(map[string]any{"TS_DURATION": "long", "CLUSTER_NUM_NODES": 0.5,
		"JOB_LEN_PATTERN": "Ali_Trace", "CLUSTER_NODES": 4.0, "TESTBED": 1.0})
	for _, want := range []string{
		"overrides: TESTBED is 1; expected true or false",
		"CLUSTER_NUM_NODES is 0.5; expected a whole number from 1 to 1048576",
		"TS_DURATION is long; expected a number",
		`JOB_LEN_PATTERN is "Ali_Trace"; expected one of: Normal`,
		"unknown parameter CLUSTER_NODES; expected one of: CLUSTER_NUM_NODES, FINE_GRAIN_JCT",
	} {
		require.ErrorContains(t, err, want)
	}
}

const smallTrace = `{"overrides": {"TESTBED": true}, "jobs": [{"id": 3, "type": 2, "arrv_time": 1, "num_epochs": 5, ` +
	`"real_num_epochs": 5.5}]}`

func TestReadTrace(t *testing.T) {
	trace, err := elastic.ReadTrace(strings.NewReader(smallTrace), 2)
	require.NoError(t, err)
	require.Equal(t, []elastic.Spec{{ID: 3, Type: 2, Arrival: 1, Epochs: 5, RealEpochs: 5.5}}, trace.Jobs)
	require.Equal(t, 6, trace.Settings.Options.Nodes)
	for text, want := range map[string]string{
		"":                              "read a trace of elastic jobs: unexpected end of JSON input",
		"[]":                            "cannot unmarshal array",
		`{"jobs": []}`:                  `member "jobs" has 0 jobs; expected 1 to 1048576`,
		`{"jobs": [{"id": 1.5}]}`:       "cannot unmarshal number 1.5",
		`{"overrides": {"SEED": 1}}`:    "overrides: unknown parameter SEED",
		`{"jobs": [{"id":9,"type":3}]}`: "jobs[0]: job 9: type is 3; expected 1 to 2",
	} {
		_, err := elastic.ReadTrace(strings.NewReader(text), 2)
		require.ErrorContains(t, err, want)
	}
	broken := errors.New("broken")
	_, err = elastic.ReadTrace(failing{broken}, 2)
	require.ErrorIs(t, err, broken)
}

// failing is a reader that always fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzReadTrace checks that every accepted trace can be simulated.
func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(smallTrace))
	f.Add([]byte(`{"jobs": [{"id": 1, "type": 1, "arrv_time": 9, "num_epochs": 1e300, "real_num_epochs": 1}]}`))
	f.Add([]byte(`{"overrides": {"MAX_NUM_WORKERS": 1048576, "TS_DURATION": -1, "TRAIN_SPEED_ERROR": 1e9}, "jobs": ` +
		`[{"id": 1, "type": 1, "num_epochs": 1, "real_num_epochs": 1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := elastic.ReadTrace(strings.NewReader(string(data)), 1)
		if err != nil {
			return
		}
		s := studyOf(trace.Jobs...)
		s.Options.Limit = 50
		if _, err := elastic.NewWorld(s); err != nil {
			require.ErrorContains(t, err, "duplicate ID")
			return
		}
		_, err = s.Run(t.Context(), scheduler(onePair).kind())
		if err != nil {
			require.ErrorContains(t, err, "slot ")
		}
	})
}

func TestReadTable(t *testing.T) {
	table, err := elastic.ReadTable(strings.NewReader(`{"n": 2, "table": {"m": [[1, 2], [3, 4]]}}`))
	require.NoError(t, err)
	d := elastic.Deployment{Model: &model, Workers: []int{0}, Servers: []int{0, 1}}
	require.InDelta(t, 3*1200/10, table.Epochs(d, 1200), tolerance, "two servers and one worker")
	d.Workers, d.Servers = []int{0, 1}, nil
	require.InDelta(t, 4*1200/10, table.Epochs(d, 1200), tolerance, "without servers, as many as workers")
	for text, want := range map[string]string{
		"":                              "read a speed table: unexpected end",
		`{}`:                            `the file has no models; expected a member "table"`,
		`{"table":{"m":[[1,2],[3]]}}`:   "speed table of m: row 2 has 1 speeds; expected 2, as in the first row",
		`{"table":{"m":[[1,"2"],[3]]}}`: "cannot unmarshal string",
	} {
		_, err := elastic.ReadTable(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}

// FuzzReadTable checks that every accepted table passes its check, or fails it with an error.
func FuzzReadTable(f *testing.F) {
	f.Add([]byte(`{"table": {"m": [[1, 2], [3, 4]]}}`))
	f.Add([]byte(`{"table": {"m": [[], []]}}`))
	f.Add([]byte(`{"table": {"m": null}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		table, err := elastic.ReadTable(strings.NewReader(string(data)))
		if err == nil && table.Check(&model, 2) == nil {
			table.Limit(&model, 2, 2, 1)
		}
	})
}

func TestGenerate(t *testing.T) {
	types := []elastic.JobType{{Length: 0.5}, {Length: 0}}
	jobs, err := elastic.Generate(types,
		elastic.GenerateOptions{Jobs: 7, EpochError: 0.1, Jitter: true, MaxEpochs: 100}, elastic.NewDraws(1))
	require.NoError(t, err)
	require.Len(t, jobs, 7)
	for k, j := range jobs {
		require.Equal(t, k+1, j.ID)
		require.Equal(t, k/3, j.Arrival, "three a slot")
		require.InDelta(t, 1, j.RealEpochs/j.Epochs, 0.1)
		require.InDelta(t, []float64{50, 1}[j.Type-1], j.Epochs, 5)
	}
	again, err := elastic.Generate(types,
		elastic.GenerateOptions{Jobs: 7, EpochError: 0.1, Jitter: true, MaxEpochs: 100}, elastic.NewDraws(1))
	require.NoError(t, err)
	require.Equal(t, jobs, again)
	other, err := elastic.Generate(types,
		elastic.GenerateOptions{Jobs: 7, EpochError: 0.1, Jitter: true, MaxEpochs: 100}, elastic.NewDraws(2))
	require.NoError(t, err)
	require.NotEqual(t, jobs, other)
}

func TestGenerateFollowsAPattern(t *testing.T) {
	o := elastic.GenerateOptions{Jobs: 9, Rate: 2, Arrivals: elastic.PatternArrivals, Pattern: []int{0, 1, 5}}
	jobs, err := elastic.Generate([]elastic.JobType{{Length: 1}}, o, elastic.NewDraws(1))
	require.NoError(t, err)
	arrivals := make([]int, jobs[8].Arrival+1)
	for _, j := range jobs {
		arrivals[j.Arrival]++
	}
	require.LessOrEqual(t, len(arrivals), 9)
	require.NotContains(t, arrivals, 5, "numbers are cut to the rate")
}

func TestGenerateOptionsListAllFaults(t *testing.T) {
	_, err := elastic.Generate(nil, elastic.GenerateOptions{Jobs: -1, Rate: -1, MaxEpochs: -1, EpochError: 1,
		Arrivals: elastic.PatternArrivals}, elastic.NewDraws(1))
	require.EqualError(t, err, "generate a workload: "+strings.Join([]string{
		"the number of jobs is -1; expected 1 to 1048576", "the maximum number of arrivals per slot is -1; expected " +
			"1 to 1048576",
		"the maximum number of epochs is -1; expected 1 to 1e+12",
		"the relative error of the estimated epochs is 1; expected at least 0 and less than 1",
		"the arrival pattern has no jobs; set the number of arrivals in each slot",
	}, "\n"))
	_, err = elastic.Generate(nil, elastic.GenerateOptions{Arrivals: 9}, elastic.NewDraws(1))
	require.ErrorContains(t, err, "unknown arrival process 9; expected UniformArrivals")
	_, err = elastic.Generate(nil, elastic.GenerateOptions{}, elastic.NewDraws(1))
	require.ErrorContains(t, err, "there are no job types; expected at least one")
}

func TestReadTypes(t *testing.T) {
	types, err := elastic.ReadTypes(strings.NewReader(`{"types": [{"name": "m", "worker": [2, 4], "server": [2, 0], ` +
		`"epoch_size": 10, "length": 1}]}`))
	require.NoError(t, err)
	require.Equal(t, []elastic.JobType{model}, types)
	for text, want := range map[string]string{
		"{":                          "read job types: unexpected end of JSON input",
		"{}":                         `read job types: member "types" has 0 types; expected 1 to 65536`,
		`{"types": [{"name": "m"}]}`: "read job types: types[0]: type m: epoch_size is 0; expected a positive number",
		`{"types": [{"name": "m", "epoch_size": 1}]}`: "read job types: types[0]: type m: worker is missing; " +
			"set its demand, such as [2, 4] for 2 CPU and 4 GPU slots",
		`{"types": [{"worker": [1, 0], "epoch_size": 1}]}`: `read job types: types[0]: name is ""; ` +
			`expected a unique, non-empty name`,
	} {
		_, err := elastic.ReadTypes(strings.NewReader(text))
		require.EqualError(t, err, want)
	}
}

// Poisson arrivals are capped at their mean.
func TestGeneratePoisson(t *testing.T) {
	jobs, err := elastic.Generate([]elastic.JobType{{Length: 1}},
		elastic.GenerateOptions{Jobs: 500, Rate: 4, Arrivals: elastic.PoissonArrivals}, elastic.NewDraws(1))
	require.NoError(t, err)
	slots := map[int]int{}
	for _, j := range jobs {
		slots[j.Arrival]++
	}
	for _, n := range slots {
		require.LessOrEqual(t, n, 4)
	}
	require.InDelta(t, 3.2, 500/float64(jobs[499].Arrival+1), 0.5, "the mean of min(4, Poisson(4)) is 3.2")
}
