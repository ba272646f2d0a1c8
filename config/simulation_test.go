package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/simulation/grid"
	"graft/simulation/tables"
	"graft/trainer/clock"
)

func readScenario(t *testing.T, text string, set ...string) (*Simulation, error) {
	path := filepath.Join(t.TempDir(), "late.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return ReadSimulation(files.OS{}, path, set)
}

const aScenario = `
[time]
budget = "40s"
events = [{at = "10s", change = "up"}]
[adapt]
each_epoch = true
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
seeds = 2
`

// A scenario is a job with one more section, and reads the same from its resolved text.
func TestScenariosAreRead(t *testing.T) {
	m := must(readScenario(t, aScenario))
	require.Equal(t, "late", m.Simulate.Name)
	require.Equal(t, 3, m.decisions())
	again := must(readScenario(t, m.Resolved()))
	require.Equal(t, m.Digest(), again.Digest())
	require.Equal(t, m.Resolved(), again.Resolved())
	keys := map[string]bool{}
	for _, v := range Values(m) {
		keys[v.Key] = true
	}
	require.True(t, keys["train.batch"] && keys["simulate.seeds"] && keys["optimizer.lr"])
	for key, same := range map[string]bool{"fleet.workers=3": true, "fleet.engine=\"slurm\"": true,
		"simulate.cache=\"x\"": true, "simulate.seeds=3": false, "run.seed=7": false, "time.budget=41s": false} {
		other, err := readScenario(t, aScenario, key)
		require.NoError(t, err, key)
		require.Equal(t, same, other.Digest() == m.Digest(), key)
	}
}

func TestPlans(t *testing.T) {
	data := &dataset.Set{Name: "synthetic", Shape: []int{3, 32, 32}, Classes: make([]string, 10), Digest: "data"}
	m := must(readScenario(t, aScenario))
	p := must(m.Plan(files.OS{}, data, "code"))
	require.Equal(t, []string{"deepen:conv1", "deepen:conv2", "none"}, p.Scenario.Actions)
	require.Equal(t, []int64{1, 2}, p.Seeds)
	require.Equal(t, 10.0, p.Scenario.Start)
	text := must(json.Marshal(p))
	var read grid.Plan
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, *p, read)
	ground := must(read.Space())
	require.Equal(t, m.Network.Name, ground.Network.Name())

	same := must(readScenario(t, aScenario, "run.seed=5", "simulate.name=other"))
	q := must(same.Plan(files.OS{}, data, "code"))
	require.Equal(t, p.Cause, q.Cause, "seeds and names are no cause of what all runs have in common")
	slower := must(readScenario(t, aScenario, "train.batch=32"))
	q = must(slower.Plan(files.OS{}, data, "code"))
	require.NotEqual(t, p.Cause.Options, q.Cause.Options)

	large := must(readScenario(t, aScenario, "simulate.max_sequences=20"))
	_, err := large.Plan(files.OS{}, data, "code")
	require.ErrorContains(t, err, "scenario late has 27 sequences of 3 decisions, for each of 2 seeds, "+
		"but simulate.max_sequences is 20; raise it")
	kinds := must(readScenario(t, strings.Replace(aScenario, `actions = ["deepen:conv1", "deepen:conv2", "none"]`,
		`kinds = ["deepen"]`, 1), "simulate.max_sequences=20"))
	_, err = kinds.Plan(files.OS{}, data, "code")
	require.ErrorContains(t, err, "more than 20 sequences")
	whole := must(readScenario(t, strings.Replace(aScenario, `actions = ["deepen:conv1", "deepen:conv2", "none"]`,
		`kinds = ["deepen"]`, 1), "simulate.decisions=2"))
	p = must(whole.Plan(files.OS{}, data, "code"))
	require.Empty(t, p.Scenario.Actions)
	require.Greater(t, p.Scenario.Expected, 9)
	some := must(tables.New(p.Scenario, nil))
	require.ErrorContains(t, some.Complete(), "sequences are missing; simulate them")
	require.IsType(t, &model.Network{}, ground.Network)
}

// The size of a tree follows from the file alone and equals the size of the grid.
func TestScenariosSayHowLargeTheyAre(t *testing.T) {
	for set, want := range map[string][2]int{
		"simulate.seeds=2":          {27, 80}, // 1 + 3 + 9 + 27 legs, for two seeds
		"simulate.seeds=1":          {27, 40},
		"simulate.decisions=2":      {9, 26},
		"simulate.design=\"halve\"": {9, 38}, // 3 branches; 2 of them reach 6 sequences, and 3 of the 6 reach 9
	} {
		m := must(readScenario(t, aScenario, set))
		sequences, legs, err := m.Size()
		require.NoError(t, err)
		require.Equal(t, want, [2]int{sequences, legs}, set)
	}
	m := must(readScenario(t, aScenario))
	require.Contains(t, must(m.Summary()), ": 27 sequences of 3 decisions × 2 seeds in 80 legs; digest")
	m = must(readScenario(t, aScenario, `simulate.design="sample"`, "simulate.max_sequences=7"))
	sequences, _, err := m.Size()
	require.NoError(t, err)
	require.Equal(t, 7, sequences)
	m = must(readScenario(t, aScenario, "simulate.max_sequences=20"))
	_, _, err = m.Size()
	require.ErrorContains(t, err, "has 27 sequences of 3 decisions, for each of 2 seeds, "+
		"but simulate.max_sequences is 20")
	closed := filepath.Join(t.TempDir(), "closed.toml")
	require.NoError(t, WriteProfile(files.OS{}, closed,
		&clock.Profile{Version: 1, Name: "closed", Measured: []clock.Measurement{
			{Network: "ConvSmall", Fingerprint: net2net.Fingerprint(m.network), Batch: 64, StepSeconds: 1,
				BatchSeconds: 1}}}))
	m = must(readScenario(t, aScenario, fmt.Sprintf("time.profile=%q", closed), "train.eval_batch=64",
		"time.budget=10h"))
	_, _, err = m.Size()
	require.ErrorContains(t, err, "scenario late: profile closed has no measurement of this ConvSmall with "+
		"a batch of 64, and no cost rates to predict unmeasured networks")
}

// Without cost rates, a profile must have measured every network of the tree.
func TestAProfileThatLacksNetworks(t *testing.T) {
	n := must(model.Zoo("ConvSmall", model.ZooOptions{}))
	row := `{network = "ConvSmall", fingerprint = "%s", batch = %d, step_seconds = 0.01, batch_seconds = 0.004}`
	print := net2net.Fingerprint(n)
	path := filepath.Join(t.TempDir(), "closed.toml")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "name = \"closed\"\nmeasured = ["+row+", "+row+
		"]\n[costs]\ndecision_seconds = 0.01\nsurgery_seconds = 0.01\n", print, 64, print, 128), 0o644))
	data := &dataset.Set{Name: "synthetic", Shape: []int{3, 32, 32}, Classes: make([]string, 10), Digest: "data"}
	m, err := readScenario(t, aScenario, "time.profile="+path)
	if err == nil {
		_, err = m.Plan(files.OS{}, data, "code")
	}
	require.ErrorContains(t, err, "scenario late")
	require.ErrorContains(t, err, "profile closed has no measurement of this ConvSmall with a batch of 64, and no "+
		"cost rates to predict unmeasured networks")
}

func TestScenariosThatAreWrong(t *testing.T) {
	for set, want := range map[string]string{
		`adapt.decider="random"`: "a simulation tries every action of each decision",
		`time.events=[]`:         "the timeline has no up event",
		`time.events=[{at="5s",change="up"},{at="9s",change="down"},{at="12s",change="up"}]`: `event after a "down"`,
		`simulate.decisions=4`:                       "the timeline and adapt.max_decisions allow only 3",
		`simulate.actions=["deepen:nowhere","none"]`: "deepen:nowhere",
		`simulate.actions=["none"]`:                  "leaves no choice",
		`simulate.kinds=["widen"]`:                   "kinds and actions are mutually exclusive",
		`simulate.design="likely"`:                   `policy is required by the design "likely"`,
		`simulate.design="luck"`:                     "luck",
		`simulate.keep=2`:                            "keep: got 2",
		`fleet.devices=["gpu"]`:                      `devices: got "gpu"`,
		`time.clock="wall"`:                          "several seeds require the virtual clock",
	} {
		_, err := readScenario(t, aScenario, set)
		assert.ErrorContains(t, err, want, set)
	}
}

// Outcomes in a cache depend on the content of the initial weights, and on whether parameters are drawn anew.
func TestPlansCoverInitialWeights(t *testing.T) {
	data := &dataset.Set{Name: "synthetic", Shape: []int{3, 32, 32}, Classes: make([]string, 10), Digest: "data"}
	file := filepath.Join(t.TempDir(), "a.safetensors")
	require.NoError(t, os.WriteFile(file, []byte("first"), 0o600))
	weights := "network.weights=" + file
	m := must(readScenario(t, aScenario, weights))
	p := must(m.Plan(files.OS{}, data, "code"))
	drawn := must(readScenario(t, aScenario, weights, "network.fresh=true"))
	require.NotEqual(t, p.Cause.Network, must(drawn.Plan(files.OS{}, data, "code")).Cause.Network)

	var stored grid.Plan
	require.NoError(t, json.Unmarshal(must(json.MarshalIndent(p, "", "  ")), &stored))
	require.NoError(t, m.CheckPlan(files.OS{}, &stored))
	require.NoError(t, m.CheckInitialWeights(files.OS{}, &stored))
	slower := must(readScenario(t, aScenario, weights, "train.batch=32"))
	require.ErrorContains(t, slower.CheckPlan(files.OS{}, &stored), "the options of training")
	require.NoError(t, os.WriteFile(file, []byte("second"), 0o600))
	require.ErrorContains(t, m.CheckPlan(files.OS{}, &stored), file+" changed since the start of the simulation")
	require.ErrorContains(t, m.CheckInitialWeights(files.OS{}, &stored), file+" changed since the start")
	stored.Scenario.Origin = nil
	require.ErrorContains(t, m.CheckPlan(files.OS{}, &stored), "start a new simulation")
}

// Sequences train in one process each.
func TestScenariosOfSeveralProcessesAreRefused(t *testing.T) {
	_, err := readScenario(t, aScenario, "parallel.on=true")
	require.ErrorContains(t, err, "a simulation trains each sequence in one process; set parallel.on to false")
}
