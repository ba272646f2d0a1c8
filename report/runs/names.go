package runs

// Structural policies in a run folder of `graft learn`: the vote of all seeds, and a folder with each seed's policy.
const (
	VoteFile   = "policy.safetensors"
	SeedFolder = "policies"
	seedBegin  = "seed-"
	seedEnd    = ".safetensors"
)

// LogsFolder is the folder in a run folder with the output of its processes.
const LogsFolder = "logs"

// PolicyFile is the learned policy under the original's file name.
const PolicyFile = "agent.finalmodel.pth"

// Names in the run folder of a pipeline.
const (
	JournalFile      = "pipeline.json"
	LearnFile        = "learn.toml"
	PolicyFolder     = "policy"
	EvaluationFolder = "evaluation" // run folder of the evaluation
	LeftOutFolder    = "left-out"   // run folder of leave-one-out
)

// Names of stages. A simulation's name is the first, followed by a scenario.
const (
	SimulateStage = "simulate "
	LearnStage    = "learn"
	EvaluateStage = "evaluate"
)

// Names in run folders that determine kinds.
const (
	ManifestFile = "manifest.json"
	OutcomeFile  = "outcome.json"
	LockFile     = "lock"
	ConfigFile   = "config.toml"
	scenarioJSON = "scenario.json"
)

// Names in the run folder of a simulation.
const (
	ResolvedFile   = "config.resolved.toml"
	PlanFile       = "grid.json"
	FailuresFolder = "failures"
	TableFolder    = "table"
	LeasesFolder   = "leases" // in the cache
	largestPlan    = 4 << 20
)
