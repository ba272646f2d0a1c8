package config

import (
	"fmt"

	"graft/files"
	"graft/simulation"
)

// LegacyScenario is what a configuration file of the original system says of the table
// that was simulated by it.
type LegacyScenario struct {
	// Scenario has no actions: the file says only how many there were.
	Scenario simulation.Scenario
	Actions  int   // that each decision chose from; zero where the file does not say
	Seed     int64 // of all runs
}

// legacyScenarioKeys are those that a table's file must have.
var legacyScenarioKeys = []string{"runner.seed", "runner.folder", "scheduler.running_time", "job.model", "job.dataset"}

// ReadLegacyScenario reads a configuration file of the original's simulations. Where what it
// says is wrong the error wraps [Faults].
func ReadLegacyScenario(fsys files.FS, path string) (*LegacyScenario, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	t, err := parseLegacyScenario(path, text)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return t, nil
}

func parseLegacyScenario(path string, text []byte) (*LegacyScenario, error) {
	doc := newDocument(path, text)
	table, err := doc.readLoosely()
	if err != nil {
		return nil, err
	}
	c := &converter{document: doc, table: table, keys: map[string]any{}}
	c.flatten()
	c.require(legacyScenarioKeys)
	t := &LegacyScenario{}
	s := &t.Scenario
	legacyValue(c, "runner.folder", "a text", &s.Name)
	legacyValue(c, "job.model", "a text", &s.Network)
	legacyValue(c, "job.dataset", "a text", &s.Dataset)
	legacyValue(c, "runner.seed", "a whole number", &t.Seed)
	legacySeconds(c, "scheduler.running_time", &s.Budget)
	legacySeconds(c, "scheduler.start_time", &s.Start)
	legacyCount(c, "agent.num_actions", &s.Decisions)
	legacyCount(c, "agent.action_set_size", &t.Actions)
	if len(c.faults) > 0 {
		return nil, doc.locate(c.faults)
	}
	return t, doc.locate(nil)
}

// legacyValue reads a key that may be missing.
func legacyValue[T any](c *converter, key, what string, to *T) {
	value, has := c.keys[key]
	v, ok := value.(T)
	if has && !ok {
		c.fault(key, "must be %s, and not %s", what, describe(value))
	}
	*to = v
}

func legacySeconds(c *converter, key string, to *float64) {
	value, has := c.keys[key]
	f, ok := asNumber(value)
	if has && (!ok || f < 0) {
		c.fault(key, "must be a number of seconds, and not %s", describe(value))
	}
	*to = f
}

func legacyCount(c *converter, key string, to *int) {
	value, has := c.keys[key]
	n, ok := value.(int64)
	if has && (!ok || n < 1 || n > 1<<20) {
		c.fault(key, "must be a whole number above 0, and not %s", describe(value))
	}
	*to = int(n)
}
