package config

import (
	"fmt"

	"graft/internal/decode"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
)

// rehearsal applies a decider's listed actions to a network without weights, along the timeline. The number of
// decisions after an up depends on the length of epochs, and other rules may decide between any two events, so
// rehearsal follows every possible number.
type rehearsal struct {
	job    *Job
	done   map[int]bool  // actions that are possible on some path
	wrong  map[int]error // first error of each other action
	capped bool          // some paths were skipped
}

// rehearsed is the state of one path.
type rehearsed struct {
	network *model.Network
	levels  []*model.Network // networks before each up that is not reverted yet
	next    int              // number of the next decision
	path    string           // actions in effect, with a mark at each level
}

// mostPaths limits the paths. Beyond it nothing is reported: an action may be possible on a path that was skipped, and
// a job skips actions that do not fit.
const mostPaths = 200

// rehearse reports each action that is possible on no path.
func (j *Job) rehearse(r *decode.Reading) {
	j.misfits(func(k int, err error) { r.Blame("adapt.actions", err.Error(), k) })
}

// misfits passes on the actions that can never be applied, by their numbers.
func (j *Job) misfits(report func(k int, err error)) {
	h := &rehearsal{job: j, done: map[int]bool{}, wrong: map[int]error{}}
	paths := []rehearsed{{network: j.network}}
	for _, event := range j.Time.timeline().Events {
		if j.Adapt.Kind().Name != trainer.WhenDevices {
			paths = h.between(paths)
		}
		paths = h.after(event.Change, paths)
	}
	for _, p := range paths { // changes outside the timeline may use the remaining actions
		for p.next < len(j.Adapt.Actions) {
			p = h.decide(p)
		}
	}
	for k := range j.Adapt.Actions {
		if err := h.wrong[k]; err != nil && !h.done[k] && !h.capped {
			report(k, err)
		}
	}
}

// adder returns a function that adds paths to a list, each once.
func (h *rehearsal) adder(next *[]rehearsed) func(p rehearsed) {
	seen := map[string]bool{}
	return func(p rehearsed) {
		key := fmt.Sprint(p.next, p.path)
		switch {
		case seen[key]:
		case len(*next) == mostPaths:
			h.capped = true
		default:
			seen[key] = true
			*next = append(*next, p)
		}
	}
}

// between follows the paths through any number of decisions that do not follow an up.
func (h *rehearsal) between(paths []rehearsed) (next []rehearsed) {
	add, most := h.adder(&next), h.job.Decisions()
	for _, p := range paths {
		add(p)
		for p.next < most && !h.capped {
			p = h.decide(p)
			add(p)
		}
	}
	return next
}

// after follows the paths through a change of devices.
func (h *rehearsal) after(change trainer.Change, paths []rehearsed) (next []rehearsed) {
	add, most := h.adder(&next), max(1, h.job.Adapt.MaxDecisions)
	if h.job.Adapt.Kind().Name != trainer.WhenDevices {
		most = 0
	}
	for _, p := range paths {
		switch change {
		case trainer.Up:
			p.levels = append(p.levels[:len(p.levels):len(p.levels)], p.network)
			p.path += "|"
			if most == 0 {
				add(p)
			}
			for range most {
				p = h.decide(p)
				add(p)
			}
		case trainer.Down:
			if last := len(p.levels) - 1; last >= 0 {
				p.network, p.levels = p.levels[last], p.levels[:last]
				p.path += "^"
			}
			add(p)
		default:
			add(p)
		}
	}
	return next
}

// decide applies the next action, if there is one.
func (h *rehearsal) decide(p rehearsed) rehearsed {
	k := p.next
	if h.job.Adapt.kind().Actions == OneAction {
		k = 0
	}
	p.next++
	if k >= len(h.job.Adapt.Actions) {
		return p
	}
	n := p.network.Sketch()
	if _, err := net2net.Apply(n, h.job.Adapt.Actions[k], h.job.Adapt.Surgery); err != nil {
		if h.wrong[k] == nil {
			h.wrong[k] = err
		}
		return p
	}
	h.done[k] = true
	p.network, p.path = n, p.path+fmt.Sprint(" ", k)
	return p
}
