package fabric

import (
	"graft/cluster"
	"graft/cluster/fabric/graph"
)

// Faults of the simulator of RAMP and PAC-ML (github.com/cwfparsonson/ddls).
var (
	// Milliseconds reads the times of profiles, which are in ms, as seconds.
	Milliseconds = cluster.Quirk{Name: "milliseconds",
		Fixed: "times of profiles are converted from ms to seconds"}
	// MirroredSizes gives a backward transfer the size of its source's forward output instead of its target's.
	MirroredSizes = cluster.Quirk{Name: "mirrored-sizes", Fixed: "a backward transfer has the size of the gradient " +
		"that it carries, which equals the size of the matching forward transfer"}
	// OneLoss lets the backward operations of a network with several outputs start after its last output, before the
	// other outputs are ready.
	OneLoss = cluster.Quirk{Name: "one-loss",
		Fixed: "in a network with several outputs, backward operations wait for all outputs, not only for the last"}
	// HeldSizes sends all activations and parameters of an operation, from every part to every part.
	HeldSizes = cluster.Quirk{Name: "held-sizes", Fixed: "parts of an operation send only what their strategy needs: " +
		"a share of the activation to its consumers, and gradients of parameters in one all-reduce"}
	// LostParts splits operations into numbers of parts for which no block of servers exists.
	LostParts = cluster.Quirk{Name: "lost-parts", Fixed: "the number of parts of an operation is limited to the size " +
		"of a block of the network; otherwise its job can never be placed"}
	// CountedSync makes an operation wait for exchanges between its own parts as if they were inputs.
	CountedSync = cluster.Quirk{Name: "counted-sync", Fixed: "an operation starts when all its inputs have arrived; " +
		"exchanges between its parts do not count as inputs"}
	// TwiceDivided divides the rate of a transceiver by the number of transceivers twice.
	TwiceDivided = cluster.Quirk{Name: "twice-divided",
		Fixed: "the bandwidth of a server is divided by its transceivers once, not twice"}
	// ForwardMemory applies the memory limit only to forward operations, and to the sum over all servers instead of
	// each server.
	ForwardMemory = cluster.Quirk{Name: "forward-memory", Fixed: "the memory limit counts forward and backward " +
		"operations and applies to each server, not to the sum over all servers"}
	// SharedChannel runs all transfers of a channel at once.
	SharedChannel = cluster.Quirk{Name: "shared-channel",
		Fixed: "a channel carries one transfer at a time, the transfer with the highest priority"}
	// ForgottenPlacement caches a step by model and degree, without its placement.
	ForgottenPlacement = cluster.Quirk{Name: "forgotten-placement",
		Fixed: "step times are cached by model, degree and placement, not only by model and degree"}
	// RoundedLimit compares a job's time with its limit exactly, so a rounding error can block the job.
	RoundedLimit = cluster.Quirk{Name: "rounded-limit",
		Fixed: "a job is blocked only if it exceeds its limit by more than a relative 1e-9, not because of " +
			"rounding errors"}
	// StepShare divides utilisation by the number of steps of a job.
	StepShare = cluster.Quirk{Name: "step-share", Fixed: "utilisation is the share of a step's time in which a " +
		"server computes; it is not divided by the number of steps"}
	// LateRelease keeps the servers of a job that ended occupied until the next event.
	LateRelease = cluster.Quirk{Name: "late-release",
		Fixed: "the servers of a job become free when it ends, not one event later"}
	// RunningBlocked counts jobs still running at the end as blocked.
	RunningBlocked = cluster.Quirk{Name: "running-blocked",
		Fixed: "jobs that run at the end count as running, not as blocked"}
	// EndlessClock moves the clock to infinity if the last job is blocked while no job runs.
	EndlessClock = cluster.Quirk{Name: "endless-clock",
		Fixed: "an episode ends with its last event, even if the last job is blocked while no job runs"}
	// EmptyShapes treats a degree as possible whenever a block of its shape exists, even if its servers are occupied.
	EmptyShapes = cluster.Quirk{Name: "empty-shapes",
		Fixed: "a degree is offered if it has a free block now, not if it would have one in an empty cluster"}
	// MaskedConstant chooses a constant degree even if there is no block for it.
	MaskedConstant = cluster.Quirk{Name: "masked-constant",
		Fixed: "if a constant degree has no free block, the next smaller degree is chosen"}
)

// Quirks returns all quirks of the fabric simulator: bugs of PAC-ML's simulator that graft can reproduce. Register new
// quirks here.
func Quirks() []cluster.Quirk {
	return []cluster.Quirk{Milliseconds, MirroredSizes, OneLoss, HeldSizes, LostParts, CountedSync, TwiceDivided,
		ForwardMemory, SharedChannel, ForgottenPlacement, RoundedLimit, StepShare, LateRelease, RunningBlocked,
		EndlessClock, EmptyShapes, MaskedConstant}
}

// Mirror returns the options with which [graph.Mirror] reproduces these quirks.
func Mirror(q cluster.Quirks) graph.MirrorOptions {
	return graph.MirrorOptions{SourceSizes: q.Keeps(MirroredSizes), OneLoss: q.Keeps(OneLoss)}
}
