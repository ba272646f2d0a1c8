package runs

// What a run of `graft learn` leaves of structural policies: one in which all seeds
// vote, and a folder with one for each seed.
const (
	VoteFile   = "policy.safetensors"
	SeedFolder = "policies"
	seedBegin  = "seed-"
	seedEnd    = ".safetensors"
)

// LogsName is the folder in a run folder where processes leave what they print.
const LogsName = "logs"

// PolicyFile is the policy that was learned, under the original's name.
const PolicyFile = "agent.finalmodel.pth"

// Names in the run folder of a pipeline.
const (
	LedgerName  = "pipeline.json"
	LearnFile   = "learn.toml"
	PolicyName  = "policy"
	JudgedName  = "evaluation" // the run folder of how the policies fare
	UnseenName  = "left-out"   // that of those that learned from other tables
	OutcomeName = "outcome.json"
)

// Names of stages; those of scenarios follow the first.
const (
	SimulateStage = "simulate "
	LearnStage    = "learn"
	JudgeStage    = "evaluate"
)

// Names in run folders by which they are known.
const (
	ManifestFile = "manifest.json"
	OutcomeFile  = "outcome.json"
	LockFile     = "lock"
	GivenFile    = "config.toml"
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
