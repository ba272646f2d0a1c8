package config

import (
	"fmt"
	"slices"

	"graft/files"
	"graft/original/bilstm"
	"graft/simulation/tables"
)

// LegacyRunFile is the configuration that the original put into each run's folder.
const LegacyRunFile = "config.toml"

// LegacyRun is what a configuration file of the original says about a policy that
// learned, or about a table. What it does not say is zero.
type LegacyRun struct {
	Seed       int64   // of all that was drawn
	Folder     string  // of the run, in the folder of all results
	Network    string  // in the zoo
	Dataset    string  // by the original's name
	Budget     float64 // seconds
	Start      float64 // seconds of the budget that had passed when decisions began
	Decisions  int     // that lead to a record of a table
	Choices    int     // actions that each decision of a table chose from
	Table      string  // the path of the table that was learned from, or recorded
	Source     string  // the path of the policy that learning began with; empty for a new one
	Vocabulary string  // by name
	Policy     bilstm.Shape
}

// Scenario is what the file says of a table. It has no actions: the file says only how
// many there were.
func (r *LegacyRun) Scenario() tables.Scenario {
	return tables.Scenario{Name: r.Folder, Network: r.Network, Dataset: r.Dataset, Budget: r.Budget, Start: r.Start, Decisions: r.Decisions}
}

// ReadLegacyRun reads a configuration file of the original. Where what it says is
// wrong, the error wraps [Faults].
func ReadLegacyRun(fsys files.FS, path string) (*LegacyRun, error) {
	return readLegacyRun(fsys, path, (*converter).requireZoo)
}

// ReadLegacyScenario reads the file by which a table was simulated. It must say of
// what; the network may be one that is not in the zoo.
func ReadLegacyScenario(fsys files.FS, path string) (*LegacyRun, error) {
	return readLegacyRun(fsys, path, (*converter).requireScenario)
}

func readLegacyRun(fsys files.FS, path string, check func(*converter)) (*LegacyRun, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read run: %w; a folder of the original's has a file %s", err, LegacyRunFile)
	}
	r, err := parseLegacyRun(path, text, check)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return r, nil
}

func parseLegacyRun(path string, text []byte, check func(*converter)) (*LegacyRun, error) {
	c, err := newConverter(path, text)
	if err != nil {
		return nil, err
	}
	r := &LegacyRun{}
	for key, to := range r.places() {
		c.take(key, to)
	}
	if r.Table == "" {
		c.take("agent.save_file", &r.Table)
	}
	check(c)
	return r, c.located()
}

// requireScenario tells which keys are missing that a table's file has.
func (c *converter) requireScenario() {
	c.require([]string{"runner.seed", "runner.folder", "scheduler.running_time", "job.model", "job.dataset"})
}

// requireZoo tells of a network that is not in the zoo.
func (c *converter) requireZoo() {
	if name, given := c.keys["job.model"].(string); given && !slices.Contains(zooNames()[1:], name) {
		c.fault("job.model", "is a class of the original's that is not here%s", guess(name, zooNames()))
	}
}

// places are where the keys of a file go.
func (r *LegacyRun) places() map[string]any {
	return map[string]any{
		"runner.seed": &r.Seed, "runner.folder": &r.Folder, "job.model": &r.Network, "job.dataset": &r.Dataset,
		"scheduler.running_time": &r.Budget, "scheduler.start_time": &r.Start, "agent.num_actions": &r.Decisions, "agent.action_set_size": &r.Choices,
		"simulation.datafile": &r.Table, "agent.policyfile": &r.Source, "agent.vocab": &r.Vocabulary,
		"agent.max_actions": &r.Policy.Actions, "agent.embedding_size": &r.Policy.Embedding, "agent.hidden_size": &r.Policy.Hidden,
		"agent.decider_lstm_size": &r.Policy.Memory, "agent.decider_linear_size": &r.Policy.Linear, "agent.time_encoding_size": &r.Policy.Time,
	}
}

// mostCounted is above every count in a file of the original's.
const mostCounted = 1 << 20

// take stores the value of a key, if it is there.
func (c *converter) take(key string, to any) {
	value, given := c.keys[key]
	if !given {
		return
	}
	ok := false
	wants := "a text"
	switch to := to.(type) {
	case *string:
		*to, ok = value.(string)
	case *int64:
		wants = "a whole number"
		*to, ok = value.(int64)
	case *int:
		var n int64
		wants = "a whole number above 0"
		n, ok = value.(int64)
		ok = ok && n > 0 && n <= mostCounted
		*to = int(n)
	case *float64:
		wants = "a number of seconds"
		*to, ok = asNumber(value)
		ok = ok && *to >= 0
	}
	if !ok {
		c.fault(key, "must be %s, and not %s", wants, describe(value))
	}
}
