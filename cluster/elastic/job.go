package elastic

// JobType holds the common properties of jobs that train the same model.
type JobType struct {
	Name      string    `json:"name"`       // model name in speed tables
	Worker    Resources `json:"worker"`     // resources that a worker demands
	Server    Resources `json:"server"`     // resources that a parameter server demands
	EpochSize float64   `json:"epoch_size"` // size of an epoch in the unit of the speed model: steps or samples
	// number of epochs of a job, relative to the maximum number in the workload; only trace generation reads it
	Length float64 `json:"length"`

	// seconds of computation per step; only [Analytic] reads this and the communication fields
	Compute   float64 `json:"compute_seconds"`
	ModelSize float64 `json:"model_mb"`          // size of the parameters in MB
	BetweenBW float64 `json:"between_mb_second"` // bandwidth between nodes in MB/s
	WithinBW  float64 `json:"within_mb_second"`  // bandwidth within a node in MB/s
}

// Spec describes a job in a trace.
type Spec struct {
	ID         int     `json:"id"`              // unique number; ties are broken by ascending ID
	Type       int     `json:"type"`            // number of the job type, from 1
	Arrival    int     `json:"arrv_time"`       // slot of arrival, from 0
	Epochs     float64 `json:"num_epochs"`      // estimated number of epochs, visible to schedulers
	RealEpochs float64 `json:"real_num_epochs"` // true number of epochs, hidden from schedulers
}

// Job is a job in a simulation. Schedulers may read a job; only its [World] changes it.
type Job struct {
	Spec
	Model    *JobType
	Progress float64 // number of completed epochs
	Workers  []int   // node of each worker in the current slot
	Servers  []int   // node of each parameter server in the current slot
	Share    float64 // dominant share of the cluster's resources that the job's tasks hold
	RunTime  float64 // fraction of the last slot in which the job ran, from 0 to 1
	End      float64 // completion time, in slots; zero while unfinished

	lastWorkers, lastServers int          // counts in its last running slot; zero before the first
	needs                    [3]Resources // demands of the actions, by number
}

// Left returns the remaining fraction of a job's estimated epochs. It is negative for a job that exceeded its estimate.
func (j *Job) Left() float64 { return 1 - j.Progress/j.Epochs }

// overrun is the assumed remaining share of the estimate for a job that has exceeded it. It is small but positive, so
// that the job does not starve.
const overrun = 0.05

// EpochsLeft returns the expected number of remaining epochs of a job, which is always positive.
func (j *Job) EpochsLeft() float64 { return max(j.Epochs-j.Progress, overrun*j.Epochs) }

// JCT returns the time from the arrival of a finished job to its completion, in slots.
func (j *Job) JCT() float64 { return j.End - float64(j.Arrival) }

func (j *Job) done() bool { return j.Progress >= j.RealEpochs }

func (j *Job) running() bool { return len(j.Workers)+len(j.Servers) > 0 }

// demand returns the resources that all its tasks hold.
func (j *Job) demand() Resources {
	return j.Model.Worker.Times(len(j.Workers)).Plus(j.Model.Server.Times(len(j.Servers)))
}
