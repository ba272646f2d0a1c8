package convert

import (
	"math"

	"graft/internal/decode"
)

// simulationAgent is the original's agent that ran all sequences of actions.
const simulationAgent = "SimulationAgent"

func (c *converter) simulates() bool { return c.Keys["runner.agent"] == simulationAgent }

// mostLegacyChoices is above every number of blocks that the original could deepen.
const mostLegacyChoices = 1000

// choicesKey lists the actions of each decision: blocks by number, then none.
func choicesKey(c *converter, key string, n int64) {
	if !c.simulates() {
		c.ofGrid(key)
		return
	}
	if n < 2 || n > mostLegacyChoices {
		c.Fault(key, "must be from 2 to %d, got %d", mostLegacyChoices, n)
		return
	}
	var actions []any
	for block := range n {
		actions = append(actions, c.blockAction(block))
	}
	c.set("simulate.actions", actions, "was "+key+", by number, with none after the last block")
}

func decisionsKey(c *converter, key string, n int64) {
	if !c.simulates() {
		c.ofGrid(key)
		return
	}
	c.set("simulate.decisions", n, "was "+key+", after which no further action was taken")
}

// ofGrid reports a key about all sequences in another kind of file.
func (c *converter) ofGrid(key string) {
	c.warn("%s had no effect: only the original's %s read it", key, simulationAgent)
}

func saveFileKey(c *converter, key string, value any) {
	if !c.simulates() {
		c.ofGrid(key)
		return
	}
	c.warn("%s = %s has no counterpart: the table is the folder table in run.folder", key, decode.OneLine(plain(value)))
}

func saveKey(c *converter, key string, value any) {
	if c.simulates() && value == true {
		return // as in every simulation
	}
	without("a job has no table; use 'graft simulate'")(c, key, value)
}

// grid returns the number of sequences; zero if the file does not give it.
func (c *converter) grid() float64 {
	size, _ := c.Keys["agent.action_set_size"].(int64)
	count, _ := c.Keys["agent.num_actions"].(int64)
	if size < 1 || count < 1 {
		return 0
	}
	return math.Pow(float64(size), float64(count))
}
