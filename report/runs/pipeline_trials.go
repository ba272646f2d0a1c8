package runs

// Names in the run folder of a pipeline of trials.
const (
	TuningFolder = "tuning" // folder of the run folders of trials that select values
	TunedFolder  = "tuned"  // folder of files with the selected values, one per entry
)

// Names of stages of an entry: each is followed by the name of the entry.
const (
	TuneStage   = "tune "
	TrialsStage = "trials "
)

// EntryOutcome is the outcome of an entry of a pipeline: the trials of one job.
type EntryOutcome struct {
	Name   string  `json:"name"`   // name of the entry
	Folder string  `json:"folder"` // path of the run folder of the trials, in the pipeline's folder
	Cases  int     `json:"cases"`  // number of cases
	Trials int     `json:"trials"` // number of completed trials
	Failed int     `json:"failed"` // number of failed trials
	Tuning *Tuning `json:"tuning"` // values that were selected before the trials; null without tuning
}

// Tuning holds the values that trials selected for each case.
type Tuning struct {
	Folder string      `json:"folder"` // path of the run folder of the trials, in the pipeline's folder
	File   string      `json:"file"`   // path of the cases file with the selected values, in the pipeline's folder
	Cases  []TunedCase `json:"cases"`  // cases in order
}

// TunedCase holds the values that were selected for a case.
type TunedCase struct {
	Case     string           `json:"case"`                // name of the case
	Set      []string         `json:"set"`                 // selected values, as assignments
	Accuracy float64          `json:"validation_accuracy"` // mean validation accuracy of the selected values
	Tried    []TunedCandidate `json:"tried"`               // all combinations of values in order
}

// TunedCandidate is a combination of values that was tried for a case.
type TunedCandidate struct {
	Set []string `json:"set"` // values, as assignments
	// mean validation accuracy of the completed trials; null if none completed
	Accuracy *float64 `json:"validation_accuracy"`
	Diverged int      `json:"diverged"` // number of trials that diverged; their combination is not selected
}

// trialsQuantities counts the trials of all entries.
func trialsQuantities(entries []EntryOutcome) []Quantity {
	trials, failed := 0, 0
	for _, e := range entries {
		trials, failed = trials+e.Trials, failed+e.Failed
	}
	return []Quantity{seedless("trials", "", Neutral, float64(trials)), seedless("failed", "", Lower, float64(failed))}
}
