// Package convert translates configuration files of the original system into graft's format.
package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/original/published"
)

// Translation is a graft configuration file translated from a file of the original system.
type Translation struct {
	Text string // text of the translated file; it contains Warnings as comments
	// Warnings lists behaviour that graft lacks or implements differently, and the keys that had no effect in the
	// original system.
	Warnings   []string
	Learning   bool // whether the file configures a policy that learns
	Simulation bool // whether the file is a scenario; if this and Learning are false it is a job
}

// Convert translates a configuration file of the original system. If the file is not a configuration of the original
// system, the error wraps [decode.Faults].
func Convert(fsys files.FS, path string) (*Translation, error) {
	text, err := files.ReadAll(fsys, path, decode.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	t, err := translate(path, text)
	if err != nil {
		return nil, fmt.Errorf("convert: %w", err)
	}
	return t, nil
}

func translate(path string, text []byte) (*Translation, error) {
	source, err := published.NewSource(path, text)
	if err != nil {
		return nil, err
	}
	c := &converter{Source: source}
	switch agent, _ := c.Keys["runner.agent"].(string); agent {
	case "Agent":
		return c.learning(path)
	case simulationAgent:
		c.Require([]string{"agent.action_set_size", "agent.num_actions"})
	}
	c.Require([]string{"runner.seed", "runner.folder", "runner.agent", "runner.total_episodes",
		"scheduler.running_time", "job.model", "job.dataset"})
	for _, key := range c.Order {
		c.key(key)
	}
	c.fillIn()
	if err := c.Located(); err != nil {
		return nil, err
	}
	return c.finish(path)
}

type converter struct {
	*published.Source
	settings []setting
	warnings []string
}

// setting is a key of the job.
type setting struct {
	section, key string
	value        any // in the form for layouts
	comment      string
}

func (c *converter) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// set sets a key of the job, unless it is already set.
func (c *converter) set(path string, value any, comment string) {
	section, key, _ := strings.Cut(path, ".")
	for _, s := range c.settings {
		if s.section == section && s.key == key {
			return
		}
	}
	c.settings = append(c.settings, setting{section, key, value, comment})
}

func (c *converter) key(key string) {
	if translate, known := jobKeys[key]; known {
		translate(c, key, c.Keys[key])
		return
	}
	section, name, inSection := strings.Cut(key, ".")
	switch {
	case inSection && (section == "trainer" || section == "job") && jobKeys[name] != nil:
		c.warn("%s = %s had no effect: the original read %s only at the top level of the file", key,
			decode.OneLine(plain(c.Keys[key])), name)
	case section == "agent" && slices.Contains(policyKeys, name):
		c.warn("%s applies only to a learning policy, which this job does not use", key)
	default:
		c.warn("%s had no effect: the original never read it", key)
	}
}

// policyKeys lists the keys of [agent] that the original's learned policy reads.
var policyKeys = []string{"vocab", "alpha", "hidden_size", "embedding_size", "max_actions", "decider_lstm_size",
	"decider_linear_size", "learning_rate_decay", "lr_decay_freq", "temp_decay_freq", "temp_decay_rate", "gamma",
	"time_encoding_size", "policyfile", "temperature"}

// fillIn sets the original's behaviour for keys that its file omits.
func (c *converter) fillIn() {
	const own = "the original's default"
	c.set("data.test_as_validation", true, "the original evaluated on the test images after each epoch")
	c.set("data.mean", []any{0.5}, "the original's normalisation of all channels")
	c.set("data.deviation", []any{0.5}, "the original's normalisation of all channels")
	c.set("time.clock", config.VirtualClock, "the original used its machine's time")
	c.set("time.profile", "v100-original", "measured times of that machine")
	c.set("train.batch", int64(64), own)
	c.set("train.eval_batch", int64(64), own)
	c.set("train.exact", true, "in PyTorch's order of operations")
	c.set("train.abandon", true, "a change of devices started a new epoch,")
	c.set("train.overrun", true, "and only whole epochs were evaluated, even after the end of the budget")
	c.set("optimizer.rule", "adam", own)
	c.set("optimizer.lr", 0.01, own)
	c.set("schedule.rule", "exponential", "after each whole epoch")
	c.set("schedule.restart", "never", "or by adapt.reset")
	c.set("schedule.decay", 0.9, own)
	c.set("schedule.min_lr", 1e-8, own+", lowered by one step, the original's final rate")
	c.set("distill.off", true, "the original never used a teacher")
	c.set("adapt.each_epoch", true, "after an up event, the original chose an action at the start of each epoch,")
	c.set("adapt.max_decisions", int64(1_000_000), "without a limit,")
	c.set("adapt.reset", true, "and created a new optimizer and schedule each time, even for action none")
	c.set("adapt.compat", "original", "uncalibrated batch normalisation")
	c.settle()
	c.warn("the original's times depended on its machine; the job takes times from the profile v100-original, " +
		"so results are the same on every machine")
}

// settle sets the minimum rate to the original's last rate: it lowered the rate while it was above min_lr, so the last
// step ended below it.
func (c *converter) settle() {
	number := func(path string) float64 { f, _ := published.Number(*c.setting(path)); return f }
	rate, decay, least := number("optimizer.lr"), number("schedule.decay"), number("schedule.min_lr")
	if !(decay > 0 && decay < 1 && rate > 0) {
		return // the rate is unchanged, or the fault is reported elsewhere
	}
	for rate > least {
		rate *= decay
	}
	*c.setting("schedule.min_lr") = max(rate, math.SmallestNonzeroFloat64)
	if number("adapt.divide") > 1 {
		c.warn("lr_scale changed the original's final learning rate; " +
			"schedule.min_lr is the final rate for the first learning rate")
	}
}

// setting returns the value of a key that is set; otherwise a dummy.
func (c *converter) setting(path string) *any {
	for k, s := range c.settings {
		if s.section+"."+s.key == path {
			return &c.settings[k].value
		}
	}
	return new(any)
}

// sectionOrder is the order of the sections in the file of a job or a scenario.
var sectionOrder = []string{"run", "network", "data", "time", "train", "optimizer", "schedule", "distill", "adapt",
	"simulate"}

// text returns the file: warnings, then sections.
func (c *converter) text(what, path string, sections []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, translated from %s.\n#\n# Differences, and keys without effect:\n", what,
		comment(path))
	for _, w := range c.warnings {
		fmt.Fprintf(&b, "# - %s\n", comment(w))
	}
	for _, section := range sections {
		lines := c.section(section)
		if lines != "" {
			fmt.Fprintf(&b, "\n[%s]\n%s", section, lines)
		}
	}
	return b.String()
}

func (c *converter) finish(path string) (*Translation, error) {
	if c.simulates() {
		t := &Translation{Text: c.text("A scenario of graft", path, sectionOrder), Warnings: c.warnings,
			Simulation: true}
		return t, config.Parse("the scenario translated from "+path, []byte(t.Text), config.NewSimulation())
	}
	t := &Translation{Text: c.text("A job of graft", path, sectionOrder), Warnings: c.warnings}
	return t, config.Parse("the job translated from "+path, []byte(t.Text), config.NewJob())
}

// section returns the lines of a section, with one comment per line.
func (c *converter) section(name string) string {
	var lines, comments []string
	widest := 0
	for _, s := range c.settings {
		if s.section == name {
			line := s.key + " = " + decode.OneLine(plain(s.value))
			lines, comments = append(lines, line), append(comments, s.comment)
			widest = max(widest, min(len(line), 60))
		}
	}
	var b strings.Builder
	for k, line := range lines {
		fmt.Fprintf(&b, "%-*s  # %s\n", widest, line, comment(comments[k]))
	}
	return b.String()
}

// comment converts a text to a comment.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// plain converts a value to the form for layouts.
func plain(value any) any {
	switch v := value.(type) {
	case float64:
		return json.Number(decode.FloatText(v))
	case []any:
		list := make([]any, len(v))
		for k := range v {
			list[k] = plain(v[k])
		}
		return list
	case map[string]any:
		var t decode.Table
		for _, key := range slices.Sorted(maps.Keys(v)) {
			t = append(t, decode.Entry{Key: key, Value: plain(v[key])})
		}
		return t
	}
	return value
}
