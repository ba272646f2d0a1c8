package config

import (
	"fmt"

	"graft/internal/decode"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
)

// rehearsal applies a decider's listed actions to a network without weights, along the
// timeline. The number of decisions after an up depends on the length of epochs, so it
// follows all possible numbers.
type rehearsal struct {
	job    *Job
	done   map[int]bool  // actions that can be done on some path
	wrong  map[int]error // first error of the others, by action
	capped bool          // some paths were not followed
}

// rehearsed is a state of a path.
type rehearsed struct {
	network *model.Network
	levels  []*model.Network // networks before each up that no down has taken back
	next    int              // decision
	path    string           // actions in effect, with a mark at each level
}

// mostPaths bounds the paths. Of more nothing is reported: an action may be possible on one that
// is not followed, and a job skips what is not.
const mostPaths = 200

// rehearse reports each action that can be done on no path.
func (j *Job) rehearse(r *decode.Reading) {
	h := &rehearsal{job: j, done: map[int]bool{}, wrong: map[int]error{}}
	paths := []rehearsed{{network: j.network}}
	for _, event := range j.Time.timeline().Events {
		paths = h.after(event.Change, paths)
	}
	for _, p := range paths { // changes beside the timeline may ask for the others
		for p.next < len(j.Adapt.Actions) {
			p = h.decide(p)
		}
	}
	for k := range j.Adapt.Actions {
		if err := h.wrong[k]; err != nil && !h.done[k] && !h.capped {
			r.Blame("adapt.actions", err.Error(), k)
		}
	}
}

// after follows paths through a change of the devices.
func (h *rehearsal) after(change trainer.Change, paths []rehearsed) (next []rehearsed) {
	seen := map[string]bool{}
	add := func(p rehearsed) {
		key := fmt.Sprint(p.next, p.path)
		switch {
		case seen[key]:
		case len(next) == mostPaths:
			h.capped = true
		default:
			seen[key] = true
			next = append(next, p)
		}
	}
	for _, p := range paths {
		switch change {
		case trainer.Up:
			p.levels = append(p.levels[:len(p.levels):len(p.levels)], p.network)
			p.path += "|"
			for range max(1, h.job.Adapt.MaxDecisions) {
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
