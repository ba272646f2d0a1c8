package published

import (
	"fmt"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/model"
	"graft/original/bilstm"
	"graft/simulation/tables"
)

// ConfigFile is the original's configuration in each run's folder.
const ConfigFile = "config.toml"

// Run holds the content of an original configuration about a policy that learned, or about a table. Unset fields are
// zero.
type Run struct {
	Seed       int64   // seed of everything random
	Folder     string  // folder of the run, in the folder of all results
	Network    string  // name in the zoo
	Dataset    string  // the original's name
	Budget     float64 // seconds
	Start      float64 // time of the budget at the first decision, in seconds
	Decisions  int     // decisions per record of a table
	Choices    int     // actions per decision of a table
	Table      string  // path of the training table, or of the recorded one
	Source     string  // path of the initial policy; empty for a new one
	Vocabulary string  // name of the vocabulary
	Policy     bilstm.Shape
}

// Scenario returns the scenario of a table, without actions: the file has only their number.
func (r *Run) Scenario() tables.Scenario {
	return tables.Scenario{Name: r.Folder, Network: r.Network, Dataset: r.Dataset, Budget: r.Budget, Start: r.Start,
		Decisions: r.Decisions}
}

// Read reads a configuration file of the original's. The error wraps [decode.Faults] if a value is invalid.
func Read(fsys files.FS, path string) (*Run, error) {
	return readRun(fsys, path, "", (*Source).requireZoo)
}

// ReadScenario reads the configuration of a table's simulation, from text if given. It must state the scenario;
// the network need not be in the zoo.
func ReadScenario(fsys files.FS, path, text string) (*Run, error) {
	return readRun(fsys, path, text, (*Source).requireScenario)
}

func readRun(fsys files.FS, path, given string, check func(*Source)) (*Run, error) {
	text := []byte(given)
	if given == "" || len(given) > decode.LargestFile {
		var err error
		if text, err = files.ReadAll(fsys, path, decode.LargestFile); err != nil {
			return nil, fmt.Errorf("read run: %w; expected an original run folder with a file %s", err, ConfigFile)
		}
	}
	r, err := parse(path, text, check)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return r, nil
}

func parse(path string, text []byte, check func(*Source)) (*Run, error) {
	c, err := NewSource(path, text)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	for key, to := range r.places() {
		c.Take(key, to)
	}
	if r.Table == "" {
		c.Take("agent.save_file", &r.Table)
	}
	check(c)
	return r, c.Located()
}

// requireScenario reports missing keys that a table's file must have.
func (c *Source) requireScenario() {
	c.Require([]string{"runner.seed", "runner.folder", "scheduler.running_time", "job.model", "job.dataset"})
}

// requireZoo reports a network that is not in the zoo.
func (c *Source) requireZoo() {
	if name, given := c.Keys["job.model"].(string); given && !slices.Contains(NetworkNames(), name) {
		c.Fault("job.model", "is an unsupported class of the original%s", words.Guess(name, NetworkNames()))
	}
}

func (r *Run) places() map[string]any {
	return map[string]any{
		"runner.seed": &r.Seed, "runner.folder": &r.Folder, "job.model": &r.Network, "job.dataset": &r.Dataset,
		"scheduler.running_time": &r.Budget, "scheduler.start_time": &r.Start, "agent.num_actions": &r.Decisions,
		"agent.action_set_size": &r.Choices,
		"simulation.datafile":   &r.Table, "agent.policyfile": &r.Source, "agent.vocab": &r.Vocabulary,
		"agent.max_actions": &r.Policy.Actions, "agent.embedding_size": &r.Policy.Embedding,
		"agent.hidden_size":       &r.Policy.Hidden,
		"agent.decider_lstm_size": &r.Policy.Memory, "agent.decider_linear_size": &r.Policy.Linear,
		"agent.time_encoding_size": &r.Policy.Time,
	}
}

// NetworkNames lists the names of networks.
func NetworkNames() []string {
	var names []string
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue
		}
		names = append(names, e.Name)
		if e.Alias != "" {
			names = append(names, e.Alias)
		}
	}
	return names
}
