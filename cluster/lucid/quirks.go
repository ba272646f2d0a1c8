package lucid

import (
	"slices"

	"graft/cluster"
)

// The faults of Lucid's simulator.
var (
	slowPartner = cluster.Quirk{Name: "slow-partner",
		Fixed: "a packed job runs at full speed after its partner has ended"}
	freeProfiling = cluster.Quirk{Name: "free-profiling", Fixed: "a job waits until its profile is complete"}
	fourModels    = cluster.Quirk{Name: "four-models",
		Fixed: "measured speeds of pairs apply to all models"}
)

// alike lists the models without interference under the quirk four-models.
var alike = []string{"NeuMF", "ResNet50", "BERT", "Transformer"}

// quirkySpeed wraps a speed model with the quirks that affect it.
func quirkySpeed(keep cluster.Quirks, model cluster.SpeedModel) cluster.SpeedModel {
	if !keep.Keeps(slowPartner) && !keep.Keeps(fourModels) {
		return model
	}
	return quirky{model, keep.Keeps(slowPartner), keep.Keeps(fourModels)}
}

type quirky struct {
	cluster.SpeedModel
	slow bool // a guest stays slow when its host ends
	four bool // four models neither cause nor suffer interference
}

// Rates returns the speed model's rates, as modified by the quirks.
func (m quirky) Rates(p cluster.Placement) (job, partner float64) {
	switch {
	case p.Partner == nil && m.slow && Of(p.Job).Packed:
		return p.Job.Rate(), 1
	case p.Partner != nil && m.four &&
		(slices.Contains(alike, p.Job.Trace.Trains().Model) || slices.Contains(alike, p.Partner.Trace.Trains().Model)):
		return 1, 1
	}
	return m.SpeedModel.Rates(p)
}
