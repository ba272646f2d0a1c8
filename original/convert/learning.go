package convert

import (
	"strings"

	"graft/config"
	"graft/internal/decode"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/policyfile"
)

// learningKeys are the original's keys of learning from a table.
var learningKeys = map[string]translator{
	"runner.seed":           wholeTo("run.seed"),
	"runner.folder":         text(folderKey),
	"runner.agent":          func(*converter, string, any) {}, // identifies the kind of file
	"runner.total_episodes": wholeTo("learn.episodes"),
	"runner.log_freq":       wholeTo("run.every"),
	"runner.desc":           without("a run has no description; write it as a comment"),
	"runner.save":           without("the original failed if it was true, because it had no table to save"),

	"simulation.datafile": text(tableKey),
	"agent.save_file":     text(otherTableKey),
	"agent.vocab":         text(vocabularyKey),
	"agent.policyfile": text(func(c *converter, key, path string) {
		c.set("policy.weights", path, "was "+key+"; as in the original, only its weights, without the embedding")
	}),
	"agent.device": whole(func(c *converter, key string, n int64) {
		c.warn("%s = %d: policies are trained on the CPU, which draws other random numbers than a GPU", key, n)
	}),

	"job.model": text(learningModelKey),
	"job.dataset": text(func(c *converter, key, name string) {
		c.warn("%s = %s was loaded but not used: the table has the results", key, decode.Quote(name))
	}),

	"agent.embedding_size":      wholeTo("policy.embedding"),
	"agent.hidden_size":         wholeTo("policy.hidden"),
	"agent.decider_lstm_size":   wholeTo("policy.memory"),
	"agent.decider_linear_size": wholeTo("policy.linear"),
	"agent.time_encoding_size":  wholeTo("policy.time"),
	"agent.max_actions":         whole(actionsKey),

	"agent.alpha":               number("learn.lr", ""),
	"agent.learning_rate_decay": number("learn.lr_decay", ""),
	"agent.lr_decay_freq":       wholeTo("learn.lr_every"),
	"agent.temperature":         number("learn.temperature", ""),
	"agent.temp_decay_rate":     number("learn.temperature_decay", ""),
	"agent.temp_decay_freq":     wholeTo("learn.temperature_every"),
	"agent.gamma": func(c *converter, key string, value any) {
		c.warn("%s = %s had no effect: the original stored it but never discounted", key, decode.OneLine(plain(value)))
	},
}

func tableKey(c *converter, key, path string) {
	c.set("table.file", path, "was "+key+", relative to the folder of the original's source")
}

func otherTableKey(c *converter, key, path string) {
	if _, given := c.Keys["simulation.datafile"]; given {
		c.warn("%s had no effect, because simulation.datafile is set", key)
		return
	}
	tableKey(c, key, path)
}

func vocabularyKey(c *converter, key, name string) {
	c.set("table.vocabulary", "../vocabs/"+name+wordsSuffix,
		"was "+key+", relative to the folder of the original's source")
}

// wordsSuffix is the file name suffix of the original's token files.
const wordsSuffix = ".ids.pkl"

func learningModelKey(c *converter, key, name string) {
	modelKey(c, key, name)
	for k := range c.settings { // its section differs from a job's
		if s := &c.settings[k]; s.section == "network" {
			s.section, s.key = "table", "network"
		}
	}
}

// actionsKey translates the number of actions: one per marked block, and one that does nothing. It writes these
// actions.
func actionsKey(c *converter, key string, n int64) {
	name, _ := c.Keys["job.model"].(string)
	network, err := model.Zoo(name, model.ZooOptions{})
	if err != nil {
		return // the model's key reports it
	}
	var actions []any
	for _, a := range original.ScenarioActions(network) {
		actions = append(actions, a)
	}
	if n != int64(len(actions)) {
		c.Fault(key, "is %d, but %s has %d actions: one for each of its marked blocks, and \"none\"", n, name,
			len(actions))
		return
	}
	c.set("table.actions", actions, "was "+key)
}

// learningOrder is the order of the sections in the file of a policy.
var learningOrder = []string{"run", "table", "policy", "learn"}

func (c *converter) learning(path string) (*Translation, error) {
	c.Require([]string{"runner.seed", "runner.folder", "runner.agent", "runner.total_episodes", "job.model",
		"job.dataset", "agent.vocab", "agent.max_actions"})
	_, first := c.Keys["simulation.datafile"]
	if _, second := c.Keys["agent.save_file"]; !first && !second {
		c.Faults = append(c.Faults, decode.Problem{Text: "the training table is missing: " +
			"the file has no simulation.datafile and no agent.save_file"})
	}
	for _, key := range c.Order {
		c.learningKey(key)
	}
	c.fillInLearning()
	if err := c.Located(); err != nil {
		return nil, err
	}
	t := &Translation{Text: c.text("A policy of graft that learns", path, learningOrder), Warnings: c.warnings,
		Learning: true}
	return t, config.Parse("the file translated from "+path, []byte(t.Text), policyfile.New())
}

func (c *converter) learningKey(key string) {
	if translate, known := learningKeys[key]; known {
		translate(c, key, c.Keys[key])
		return
	}
	section, _, _ := strings.Cut(key, ".")
	switch {
	case section == "scheduler" || section == "trainer" || jobKeys[key] != nil:
		c.warn("%s had no effect on a policy that learned from a table", key)
	default:
		c.warn("%s = %s had no effect: the original never read it", key, decode.OneLine(plain(c.Keys[key])))
	}
}

// fillInLearning sets the original's behaviour for keys that its file omits.
func (c *converter) fillInLearning() {
	const own = "the original's default"
	c.set("run.every", int64(100), own)
	for _, d := range []struct {
		path  string
		value any
	}{{"policy.embedding", int64(16)}, {"policy.hidden", int64(50)}, {"policy.memory", int64(32)},
		{"policy.linear", int64(32)}, {"policy.time", int64(8)}, {"learn.lr", 1e-3}, {"learn.lr_decay", 0.99},
		{"learn.lr_every", int64(500)}, {"learn.min_lr", 1e-9}, {"learn.temperature", 1.0},
		{"learn.temperature_decay", 0.9}, {"learn.temperature_every", int64(1)}} {
		c.set(d.path, d.value, own)
	}
	c.set("table.compat", string(net2net.Original), "the original's surgery, since the policy reads networks")
	c.set("table.discard_draws", true, "the original's surgery and actions used one random stream")
	c.set("table.prefix", false, "as in its last version; policies with 13 rows read token 0 before the layers")
	c.set("learn.rule", "reinforce", "the original's")
	c.set("learn.reward", "tangent", "the original's")
}
