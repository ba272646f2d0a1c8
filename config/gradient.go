package config

import (
	"errors"
	"fmt"
	"slices"

	"graft/decider"
	"graft/internal/decode"
	"graft/internal/validate"
	"graft/net2net"
)

// validateGradient returns an error for options that need the gradient of the loss and that do not fit each other.
func (o AdaptOptions) validateGradient() error {
	var faults validate.Faults
	faults.When(o.Surgery.ValidateStart() != nil, "%w", o.Surgery.ValidateStart())
	if o.Decider != decideGradient {
		return errors.Join(faults...)
	}
	kinds := slices.Clone(o.Kinds)
	for _, a := range o.Actions {
		kinds = append(kinds, a.Kind)
	}
	for _, k := range kinds {
		faults.When(k != net2net.None && !slices.Contains(net2net.GainKinds(), k),
			"decider is %q, but %s adds taps to existing units and no new units, so it has no gain; use only %v, or "+
				"another decider", decideGradient, string(k), net2net.GainKinds())
	}
	return errors.Join(faults...)
}

// checkGradient reports actions whose gain is undefined, if the decider compares gains.
func (j *Job) checkGradient(r *decode.Reading) {
	if j.Adapt.Decider != decideGradient {
		return
	}
	const remedy = "use actions whose layers GradMax supports, or another decider"
	for k, a := range j.Adapt.Actions {
		if _, err := net2net.Apply(j.network.Sketch(), a, j.Adapt.Surgery); err != nil {
			continue // it may fit later
		}
		if err := net2net.CheckGain(j.network, a, j.Adapt.Surgery); err != nil {
			r.Blame("adapt.actions", fmt.Sprintf("the decider gradient cannot rate %s: %v; %s", a, err, remedy), k)
		}
	}
	if len(j.Adapt.Actions) > 0 {
		return
	}
	rated, err := decider.Gradient{Random: j.random()}.Rated(j.network)
	if err == nil && len(rated) == 0 {
		err = errors.New("no action that fits the network has a gain")
	}
	if err != nil {
		r.Blame("adapt.decider", fmt.Sprintf("the decider gradient has no choices: %v; set adapt.kinds or "+
			"adapt.actions to %s", err, remedy))
	}
}
