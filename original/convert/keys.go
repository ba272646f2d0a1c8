package convert

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/config"
	"graft/internal/decode"
	"graft/internal/words"
	"graft/model"
	"graft/net2net"
	"graft/original/published"
	"graft/torch/weights"
)

type translator func(c *converter, key string, value any)

const fromTheTop = ", which the original read only at the top level of the file"

// jobKeys are the original's keys of a job.
var jobKeys = map[string]translator{
	"runner.seed":           wholeTo("run.seed"),
	"runner.folder":         text(folderKey),
	"runner.agent":          text(agentKey),
	"runner.total_episodes": whole(episodesKey),
	"runner.save":           saveKey,
	"runner.log_freq":       without("it applied only to a learning policy"),
	"runner.desc":           without("a job has no description; write it as a comment"),

	"scheduler.running_time": seconds("time.budget"),
	"scheduler.start_time":   seconds("time.start"),
	"scheduler.gpu_changes":  changesKey,

	"trainer.weights":  text(weightsKey),
	"trainer.runtimes": text(runtimesKey),

	"job.model":     text(modelKey),
	"job.dataset":   text(datasetKey),
	"job.batchsize": wholeTo("train.batch"),

	"agent.device": whole(func(c *converter, key string, n int64) {
		c.set("run.device", fmt.Sprintf("cuda:%d", n),
			"was "+key+"; the original used the CPU without CUDA: --set run.device=cpu")
	}),
	"agent.action_set_size": whole(choicesKey),
	"agent.num_actions":     whole(decisionsKey),
	"agent.save_file":       saveFileKey,
	"agent.action_sequence": sequenceKey,

	"optimizer":               text(optimizerKey),
	"optimizer_args":          argumentsKey,
	"learning_rate_decay":     number("schedule.decay", fromTheTop),
	"min_lr":                  number("schedule.min_lr", fromTheTop), // settle adjusts it to the original's last rate
	"lr_scale":                number("adapt.divide", fromTheTop),
	"T":                       untaught,
	"soft_target_loss_weight": untaught,
	"kd_weight_decay":         untaught,
}

// typed translates a value of a type; wants is the type's name in faults.
func typed[T any](wants string, then func(*converter, string, T)) translator {
	return func(c *converter, key string, value any) {
		if v, ok := value.(T); ok {
			then(c, key, v)
			return
		}
		c.Fault(key, "must be %s, got %s", wants, decode.Describe(value))
	}
}

func text(then func(*converter, string, string)) translator { return typed("a string", then) }

func whole(then func(*converter, string, int64)) translator { return typed("a whole number", then) }

// wholeTo translates an integer to a key.
func wholeTo(to string) translator {
	return whole(func(c *converter, key string, n int64) { c.set(to, n, "was "+key) })
}

// number translates a number to a key and appends also to the comment.
func number(to, also string) translator {
	return func(c *converter, key string, value any) {
		if f, ok := published.Number(value); ok {
			c.set(to, f, "was "+key+also)
			return
		}
		c.Fault(key, "must be a number, got %s", decode.Describe(value))
	}
}

// asSeconds formats a time as in a job's file.
func asSeconds(value any) (string, bool) {
	f, ok := published.Number(value)
	if !ok || math.Abs(f) > math.MaxInt64/1e9 {
		return "", false
	}
	return decode.DurationText(time.Duration(math.Round(f * 1e9))), true
}

func seconds(to string) translator {
	return func(c *converter, key string, value any) {
		if d, ok := asSeconds(value); ok {
			c.set(to, d, "was "+key)
			return
		}
		c.Fault(key, "must be a number of seconds, got %s", decode.Describe(value))
	}
}

func without(why string) translator {
	return func(c *converter, key string, value any) {
		c.warn("%s = %s has no counterpart: %s", key, decode.OneLine(plain(value)), why)
	}
}

// untaught handles a key of a loss that the original defined and never used.
func untaught(c *converter, key string, _ any) {
	c.warn("%s had no effect: the original never used a teacher, so it never distilled", key)
}

func folderKey(c *converter, key, folder string) {
	c.set("run.folder", "runs/"+folder, "was "+key+", in the folder results")
	if c.simulates() {
		c.set("simulate.name", folder, "was "+key)
	}
	if strings.HasPrefix(folder, "test") {
		c.warn("%s begins with test, so the original emptied the folder first; a job never empties it", key)
	}
}

func episodesKey(c *converter, key string, n int64) {
	if c.simulates() {
		if all := c.grid(); float64(n) != all {
			c.warn("%s = %d: the original ran only this number of sequences, in order; the scenario runs all %s", key,
				n, decode.FloatText(all))
		}
		return
	}
	if n != 1 {
		c.warn("%s = %d: a job has one episode; use 'graft simulate' for several", key, n)
		return
	}
	c.warn("%s = 1 needs no key, because a job has one episode", key)
}

func modelKey(c *converter, key, name string) {
	if slices.Contains(published.NetworkNames(), name) {
		c.set("network.name", name, "was "+key)
		return
	}
	c.Fault(key, "names an unsupported network class%s", words.Guess(name, published.NetworkNames()))
}

// weightsKey continues from weights as the original did: at the time in their file, but with the first epoch and the
// first learning rate.
func weightsKey(c *converter, key, path string) {
	if _, err := weights.FormatOf(path); err != nil {
		c.Fault(key, "%v", err)
		return
	}
	c.set("network.weights", path, "was "+key+", relative to the folder of the original's source")
	c.set("network.reset_epochs", true, "it counted epochs from zero, with the first learning rate")
	if _, timed := c.Keys["scheduler.start_time"]; !timed {
		c.set("time.start", "0s", "the original's default, independent of the runtimes")
	}
}

func runtimesKey(c *converter, key, path string) {
	if _, has := c.Keys["trainer.weights"]; !has {
		c.warn("%s had no effect: the original read it only with weights", key)
		return
	}
	c.set("network.runtimes", path, "was "+key+"; used only without reset_epochs")
}

func datasetKey(c *converter, key, name string) {
	if name != "cifar10" {
		c.Fault(key, "must be \"cifar10\", the only dataset of the original system, got %s", decode.Quote(name))
		return
	}
	c.set("data.kind", name, "was "+key)
	c.set("data.path", "data", "the folder of the images; the original downloaded them")
}

// agentKey translates the agent to a decider.
func agentKey(c *converter, key, agent string) {
	up := len(c.changes()) > 0
	switch agent {
	case "RandomAgent":
		if !up {
			c.set("adapt.decider", config.DecideNone,
				"was "+key+" = RandomAgent, which never chose an action, because there is no up event")
			return
		}
		c.set("adapt.decider", config.DecideRandom, "was "+key+" = RandomAgent")
		c.set("adapt.kinds", []any{"deepen"}, "the original supported only deepen")
		c.warn("%s = RandomAgent drew with Python's generator; the job draws other actions", key)
	case simulationAgent:
		// The section simulate has its sequences.
	case "DeterministicAgent":
		c.set("adapt.decider", config.DecideScript, "was "+key+" = DeterministicAgent")
	default:
		agents := []string{"Agent", "RandomAgent", simulationAgent, "DeterministicAgent"}
		c.Fault(key, "must be an agent class of the original system, %s%s", decode.Choice(agents),
			words.Guess(agent, agents))
	}
}

func (c *converter) changes() []any {
	list, _ := c.Keys["scheduler.gpu_changes"].([]any)
	return list
}

// changesKey translates the events. The original applied them one after the other, each at its time or later.
func changesKey(c *converter, key string, value any) {
	list, ok := value.([]any)
	if !ok {
		c.Fault(key, "must be a list of tables, got %s", decode.Describe(value))
		return
	}
	var events []any
	end, _ := published.Number(c.Keys["scheduler.running_time"])
	after := 0.0
	for k, item := range list {
		table, _ := item.(map[string]any)
		seconds, timed := published.Number(table["time"])
		seconds = max(seconds, after)
		at, fits := asSeconds(seconds)
		change, _ := table["change"].(string)
		if !timed || !fits || change != "up" && change != "down" {
			c.Fault(key, "must be a list of tables with a time in seconds and a change, \"up\" or \"down\"; "+
				"item %d is invalid", k)
			return
		}
		if after = seconds; seconds > end {
			c.warn("%s: item %d never happened, because the time was over", key, k)
			continue
		}
		if change == "down" {
			c.warn("%s goes down at %s, where the original had several faults; "+
				"the job returns to the smaller network and keeps what it learned since", key, at)
		}
		if len(table) > 2 {
			c.warn("%s: keys other than time and change in item %d had no effect", key, k)
		}
		events = append(events, decode.Table{{Key: "at", Value: at}, {Key: "change", Value: change}})
	}
	c.set("time.events", events, "was "+key)
}

// sequenceKey translates the actions of a DeterministicAgent, which are numbers of blocks.
func sequenceKey(c *converter, key string, value any) {
	if c.Keys["runner.agent"] != "DeterministicAgent" {
		c.warn("%s had no effect: only the original's DeterministicAgent read it", key)
		return
	}
	list, ok := value.([]any)
	var actions []any
	for _, item := range list {
		n, whole := item.(int64)
		ok = ok && whole && n >= 0
		actions = append(actions, c.blockAction(n))
	}
	if !ok {
		c.Fault(key, "must be a list of block numbers that are at least 0")
		return
	}
	c.set("adapt.actions", actions, "was "+key)
}

// blockAction returns deepen:N, and none for the number after the last block.
func (c *converter) blockAction(block int64) string {
	name, _ := c.Keys["job.model"].(string)
	n, err := model.Zoo(name, model.ZooOptions{})
	if err == nil && int(block) == len(net2net.OriginalBlocks(n)) {
		return "none"
	}
	return "deepen:" + strconv.FormatInt(block, 10)
}

// optimizerKey translates a class of torch.optim.
func optimizerKey(c *converter, key, name string) {
	rule := strings.ToLower(name)
	if !slices.Contains([]string{"Adam", "AdamW", "SGD"}, name) {
		c.Fault(key, "must be Adam, AdamW or SGD, got %s", decode.Quote(name))
		return
	}
	c.set("optimizer.rule", rule, "was "+key+fromTheTop)
	arguments, _ := c.Keys["optimizer_args"].(map[string]any)
	if _, given := arguments["weight_decay"]; name == "AdamW" && !given {
		c.set("optimizer.weight_decay", 0.01, "PyTorch's default for AdamW")
	}
}

func argumentsKey(c *converter, key string, value any) {
	table, ok := value.(map[string]any)
	if !ok {
		c.Fault(key, "must be a table, got %s", decode.Describe(value))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v := table[name]
		f, isNumber := published.Number(v)
		pair, isPair := v.([]any)
		switch {
		case slices.Contains([]string{"lr", "eps", "weight_decay", "momentum", "dampening"}, name) && isNumber:
			c.set("optimizer."+name, f, "was "+key)
		case name == "nesterov" && (v == true || v == false):
			c.set("optimizer.nesterov", v, "was "+key)
		case name == "betas" && isPair && len(pair) == 2:
			c.set("optimizer.beta1", pair[0], "was "+key)
			c.set("optimizer.beta2", pair[1], "was "+key)
		default:
			c.warn("%s.%s = %s has no counterpart", key, name, decode.OneLine(plain(v)))
		}
	}
	c.set("optimizer.lr", 0.001, "PyTorch's default: "+key+" replaced the original's")
}
