package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/net2net"
	"graft/trainer"
)

// forkKeys are the keys in which a job may differ from the run from which it starts (run.fork): the same results
// follow from other values, or the values matter only after the checkpoint.
var forkKeys = []string{"run.folder", "run.fork", "run.listen", "run.tensorboard", "run.threads",
	"checkpoint.every", "checkpoint.keep_every", "checkpoint.off", "time.devices", "time.events", "time.timeline",
	"time.stop", "time.stop_loss", "adapt.actions"}

// ForksFrom returns an error if a job differs from the job of another run in what a checkpoint of that run cannot
// change.
func (j *Job) ForksFrom(was *Job) error {
	var differ []string
	before := Values(was)
	for k, v := range Values(j) {
		if v.Text != before[k].Text && !slices.Contains(forkKeys, v.Key) {
			differ = append(differ, fmt.Sprintf("%s was %s and is now %s", v.Key, before[k].Text, v.Text))
		}
	}
	if len(differ) > 0 {
		return errors.New(strings.Join(differ, ", "))
	}
	_, err := j.Ahead(was, trainer.Reached{})
	return err
}

// Ahead compares a job with was, the version of the job with which the run began, and lists the changes that the
// running job accepts. These are a different budget or stop, and changes to events and script actions that the run has
// not reached yet. For any other change, Ahead returns an error.
func (j *Job) Ahead(was *Job, r trainer.Reached) (accepted []string, err error) {
	rest := *j
	rest.Time.Budget, rest.Time.Events, rest.Time.EventsFile, rest.Time.loaded = was.Time.Budget, was.Time.Events,
		was.Time.EventsFile, was.Time.loaded
	rest.Time.Stop, rest.Time.StopLoss = was.Time.Stop, was.Time.StopLoss
	if rest.Time.First() == was.Time.First() {
		rest.Time.Devices = was.Time.Devices
	}
	rest.Adapt.Actions = was.Adapt.Actions
	if rest.Digest() != was.Digest() {
		what := strings.Join(rest.Differences(was), ", ")
		if what == "" {
			what = changedContent(j)
		}
		return nil, fmt.Errorf("%s; the job has already reached time %v, so start a new run with this change", what,
			r.Time)
	}
	if r.Over {
		return nil, fmt.Errorf("%s, but the job already ended at %v; start a new run",
			strings.Join(j.Differences(was), ", "), r.Time)
	}
	if err := j.Time.timeline().Ahead(was.Time.timeline(), r); err != nil {
		return nil, fmt.Errorf("time.%w", err)
	}
	if err := j.actionsAhead(was, r); err != nil {
		return nil, err
	}
	return j.Differences(was), nil
}

// actionsAhead returns an error if actions differ on which the run has already decided.
func (j *Job) actionsAhead(was *Job, r trainer.Reached) error {
	now, before := j.Adapt.Actions, was.Adapt.Actions
	if slices.Equal(now, before) {
		return nil
	}
	if j.Adapt.kind().Actions != ActionsInOrder && r.Decisions > 0 {
		return fmt.Errorf("adapt.actions must not change from %v to %v after the first decision; the job has "+
			"reached time %v and has made %s", before, now, r.Time, words.Plural(r.Decisions, "decision"))
	}
	for k := range r.Decisions {
		if a, b := scripted(now, k), scripted(before, k); a != b {
			return fmt.Errorf("adapt.actions: decision %d was %v and is now %v, but the job has reached "+
				"time %v, which is after this decision",
				k+1, b, a, r.Time)
		}
	}
	return nil
}

// scripted returns the action of a decision; none past the end of a script.
func scripted(actions []net2net.Action, decision int) net2net.Action {
	if decision >= len(actions) {
		return net2net.Action{}
	}
	return actions[decision]
}
