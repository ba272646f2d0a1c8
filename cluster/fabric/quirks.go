package fabric

import (
	"graft/cluster"
	"graft/cluster/fabric/graph"
)

// Faults of the simulator of RAMP and PAC-ML (github.com/cwfparsonson/ddls).
var (
	// Milliseconds reads the times of profiles, which are in ms, as seconds.
	Milliseconds = cluster.Quirk{Name: "milliseconds",
		Fixed: "times of profiles, which are in ms, are converted to seconds"}
	// MirroredSizes gives a backward transfer the size of its source's forward output.
	MirroredSizes = cluster.Quirk{Name: "mirrored-sizes", Fixed: "a backward transfer has the size of the gradient " +
		"that it carries: that of the forward transfer it mirrors"}
	// OneLoss lets backward operations start too early.
	OneLoss = cluster.Quirk{Name: "one-loss",
		Fixed: "where a network has several outputs, backward operations wait for each of them, not for the last alone"}
	// HeldSizes sends everything that operations hold, from every part to every part.
	HeldSizes = cluster.Quirk{Name: "held-sizes", Fixed: "parts of an operation send what their strategy needs: " +
		"a share of the activation to those that use it, and gradients of parameters in one all-reduce"}
	// LostParts splits operations into numbers of parts without a block.
	LostParts = cluster.Quirk{Name: "lost-parts", Fixed: "an operation is split into no more parts than fit a block " +
		"of the network; with other numbers its job can never be placed"}
	// CountedSync counts exchanges as inputs.
	CountedSync = cluster.Quirk{Name: "counted-sync", Fixed: "an operation starts when all its inputs are there; " +
		"exchanges with other parts of it do not count as inputs"}
	// TwiceDivided divides the rate of a transceiver by the number of transceivers twice.
	TwiceDivided = cluster.Quirk{Name: "twice-divided",
		Fixed: "the bandwidth of a server is divided by its transceivers once, not twice"}
	// ForwardMemory counts only forward memory.
	ForwardMemory = cluster.Quirk{Name: "forward-memory", Fixed: "a server's memory holds operations forward and " +
		"backward, and each server is looked at, not the sum over all"}
	// SharedChannel runs all transfers of a channel at once.
	SharedChannel = cluster.Quirk{Name: "shared-channel",
		Fixed: "a channel carries one transfer at a time, that of the highest priority"}
	// ForgottenPlacement caches a step by model and degree, without its placement.
	ForgottenPlacement = cluster.Quirk{Name: "forgotten-placement",
		Fixed: "a step is remembered by its model, degree and placement, not by the first placement of that degree"}
	// RoundedLimit compares completion times exactly.
	RoundedLimit = cluster.Quirk{Name: "rounded-limit",
		Fixed: "a job is blocked only if it takes longer than its limit by more than rounding: one part in 10^9"}
	// StepShare divides utilisation by the steps of a job.
	StepShare = cluster.Quirk{Name: "step-share", Fixed: "utilisation is the share of a step's time in which a " +
		"server computes; it is not divided by the number of steps"}
	// LateRelease treats servers of jobs that just ended as occupied.
	LateRelease = cluster.Quirk{Name: "late-release",
		Fixed: "servers of a job are free when it ends, not one event later"}
	// RunningBlocked counts jobs still running at the end as blocked.
	RunningBlocked = cluster.Quirk{Name: "running-blocked",
		Fixed: "jobs that run at the end count as running, not as blocked"}
	// EndlessClock moves the clock to infinity.
	EndlessClock = cluster.Quirk{Name: "endless-clock",
		Fixed: "an episode ends with its last event, also where the last job is blocked while none runs"}
	// EmptyShapes treats degrees as possible whenever a block of their shape exists.
	EmptyShapes = cluster.Quirk{Name: "empty-shapes",
		Fixed: "a degree is offered if a free block for it exists now, not if one exists in an empty cluster"}
	// MaskedConstant chooses a constant degree even if it has no block.
	MaskedConstant = cluster.Quirk{Name: "masked-constant",
		Fixed: "where a constant degree has no block now, the next smaller is taken"}
)

// Quirks returns all quirks of the world. To add one, add a line.
func Quirks() []cluster.Quirk {
	return []cluster.Quirk{Milliseconds, MirroredSizes, OneLoss, HeldSizes, LostParts, CountedSync, TwiceDivided,
		ForwardMemory, SharedChannel, ForgottenPlacement, RoundedLimit, StepShare, LateRelease, RunningBlocked,
		EndlessClock, EmptyShapes, MaskedConstant}
}

// Mirror returns the options for making graphs from profiles.
func Mirror(q cluster.Quirks) graph.MirrorOptions {
	return graph.MirrorOptions{SourceSizes: q.Keeps(MirroredSizes), OneLoss: q.Keeps(OneLoss)}
}
