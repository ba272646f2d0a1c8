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

// ConfigFile is the name of the original system's configuration file in each run folder.
const ConfigFile = "config.toml"

// Run holds the settings of a run of the original system that trained a policy or recorded a table. Fields that the
// file does not set are zero.
type Run struct {
	Seed       int64   // seed of all random numbers
	Folder     string  // name of the run folder in the folder of all results
	Network    string  // name of the network in the zoo
	Dataset    string  // name of the dataset in the original system
	Budget     float64 // time budget, in seconds
	Start      float64 // part of the budget that has elapsed at the first decision, in seconds
	Decisions  int     // number of decisions per record of a table
	Choices    int     // number of actions per decision of a table
	Table      string  // path of the table that the policy was trained on, or that was recorded
	Source     string  // path of the initial policy; empty means drawn weights
	Vocabulary string  // name of the vocabulary
	Policy     bilstm.Shape
}

// Scenario returns the scenario of a table. The actions are missing, since the file states only how many actions there
// are.
func (r *Run) Scenario() tables.Scenario {
	return tables.Scenario{Name: r.Folder, Network: r.Network, Dataset: r.Dataset, Budget: r.Budget, Start: r.Start,
		Decisions: r.Decisions}
}

// Read reads a configuration file of the original system. If a value is invalid, the error wraps [decode.Faults].
func Read(fsys files.FS, path string) (*Run, error) {
	return readRun(fsys, path, "", (*Source).requireZoo)
}

// ReadScenario reads the configuration of the simulation that recorded a table. If the argument text is not empty,
// ReadScenario reads it instead of the file. The configuration must describe the scenario, but its network may be
// missing from the zoo.
func ReadScenario(fsys files.FS, path, text string) (*Run, error) {
	return readRun(fsys, path, text, (*Source).requireScenario)
}

func readRun(fsys files.FS, path, given string, check func(*Source)) (*Run, error) {
	text := []byte(given)
	if given == "" || len(given) > decode.LargestFile {
		var err error
		if text, err = files.ReadAll(fsys, path, decode.LargestFile); err != nil {
			return nil, fmt.Errorf("read run: %w; expected a run folder of the original system with a file %s", err,
				ConfigFile)
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
		c.Fault("job.model", "names an unsupported network class%s", words.Guess(name, NetworkNames()))
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

// NetworkNames lists the names that a configuration of the original system can use for networks.
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
