package runs

// Names of structural policies in a run folder of `graft learn`: the vote of all seeds, and the folder with the policy
// of each seed.
const (
	VoteFile   = "policy.safetensors"
	SeedFolder = "policies"
	seedBegin  = "seed-"
	seedEnd    = ".safetensors"
)

// LogsFolder is the name of the folder, inside a run folder, that holds the output of the run's processes.
const LogsFolder = "logs"

// PolicyFile is the file name of a learned policy in the original system's format.
const PolicyFile = "agent.finalmodel.pth"

// Names in the run folder of a pipeline.
const (
	JournalFile      = "pipeline.json"
	LearnFile        = "learn.toml"
	PolicyFolder     = "policy"
	EvaluationFolder = "evaluation" // run folder of the evaluation
	LeftOutFolder    = "left-out"   // run folder of the leave-one-out evaluation
)

// Names of stages. The name of a simulation is SimulateStage followed by a scenario.
const (
	SimulateStage = "simulate "
	LearnStage    = "learn"
	EvaluateStage = "evaluate"
)

// Names of files in run folders that determine the kind.
const (
	ManifestFile = "manifest.json"
	OutcomeFile  = "outcome.json"
	LockFile     = "lock"
	ConfigFile   = "config.toml"
	scenarioJSON = "scenario.json"
)

// InitialFile is the name of the file with the initial network of a job that an external program trains.
const InitialFile = "initial.toml"

// Names in the run folder of a simulation.
const (
	ResolvedFile   = "config.resolved.toml"
	PlanFile       = "grid.json"
	StampFile      = "images.stamp" // stamp of the files of a simulation's images
	FailuresFolder = "failures"
	TableFolder    = "table"
	LeasesFolder   = "leases" // folder of leases in the cache
	largestPlan    = 4 << 20
)
