package config

import (
	"fmt"
	"slices"

	"graft/decider"
	"graft/files"
)

// LegacyRunFile is the configuration that the original put into each run's folder.
const LegacyRunFile = "config.toml"

// LegacyRun is what a configuration file of the original says about a policy that
// learned, or about a table. What it does not say is zero.
type LegacyRun struct {
	Seed       int64
	Folder     string  // of the run, in the folder of all results
	Network    string  // in the zoo
	Dataset    string  // by the original's name
	Start      float64 // seconds of the budget that had passed when decisions began
	Table      string  // the path of the table that was learned from, or recorded
	Source     string  // the path of the policy that learning began with; empty for a new one
	Vocabulary string  // by name
	Policy     decider.LegacyShape
}

// ReadLegacyRun reads a configuration file of the original. Where what it says is
// wrong, the error wraps [Faults].
func ReadLegacyRun(fsys files.FS, path string) (*LegacyRun, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read run: %w; a folder of the original's has a file %s", err, LegacyRunFile)
	}
	r, err := parseLegacyRun(path, text)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return r, nil
}

func parseLegacyRun(path string, text []byte) (*LegacyRun, error) {
	doc := newDocument(path, text)
	table, err := doc.readLoosely()
	if err != nil {
		return nil, err
	}
	c := &converter{document: doc, table: table, keys: map[string]any{}}
	c.flatten()
	r := &LegacyRun{}
	for key, to := range r.places() {
		c.take(key, to)
	}
	if r.Table == "" {
		c.take("agent.save_file", &r.Table)
	}
	if _, given := c.keys["job.model"]; given && !slices.Contains(zooNames()[1:], r.Network) {
		c.fault("job.model", "is a class of the original's that is not here%s", guess(r.Network, zooNames()))
	}
	var located error
	if len(c.faults) > 0 {
		located = c.faults
	}
	return r, doc.locate(located)
}

// places are where the keys of a file go.
func (r *LegacyRun) places() map[string]any {
	return map[string]any{
		"runner.seed": &r.Seed, "runner.folder": &r.Folder, "job.model": &r.Network, "job.dataset": &r.Dataset,
		"scheduler.start_time": &r.Start, "simulation.datafile": &r.Table, "agent.policyfile": &r.Source, "agent.vocab": &r.Vocabulary,
		"agent.max_actions": &r.Policy.Actions, "agent.embedding_size": &r.Policy.Embedding, "agent.hidden_size": &r.Policy.Hidden,
		"agent.decider_lstm_size": &r.Policy.Memory, "agent.decider_linear_size": &r.Policy.Linear, "agent.time_encoding_size": &r.Policy.Time,
	}
}

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
		ok = ok && n > 0 && n == int64(int(n))
		*to = int(n)
	case *float64:
		wants = "a number"
		*to, ok = asNumber(value)
	}
	if !ok {
		c.fault(key, "must be %s, and not %s", wants, describe(value))
	}
}
