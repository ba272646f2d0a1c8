package runs

// What a run of `graft learn` leaves of structural policies: one in which all seeds
// vote, and a folder with one for each seed.
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
	EvaluationFolder = "evaluation" // the run folder of how the policies fare
	LeftOutFolder    = "left-out"   // that of those that learned from other tables
	OutcomeName      = "outcome.json"
)

// Names of stages; those of scenarios follow the first.
const (
	SimulateStage = "simulate "
	LearnStage    = "learn"
	EvaluateStage = "evaluate"
)

// Names in run folders by which they are known.
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
