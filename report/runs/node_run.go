package runs

import (
	"graft/cluster/execute"
	"graft/report/document"
)

// NodeRunOutcome is the content of outcome.json for a run that executes tasks as processes on one machine. Times are in
// seconds since the start of the run; periods in which the run was stopped or killed do not count.
type NodeRunOutcome struct {
	Folder    string   `json:"folder"`    // path of the run folder
	Scheduler string   `json:"scheduler"` // name of the scheduler that placed the tasks
	Devices   []string `json:"devices"`   // names of GPUs, or of slots of processors
	// reason why GPUs or measurements are missing; empty if nothing is missing
	Note       string     `json:"note"`
	Tasks      int        `json:"tasks"`          // number of tasks in the file
	Completed  int        `json:"completed"`      // number of tasks that ended with exit code 0
	Turnaround float64    `json:"turnaround"`     // mean time from arrival to completion
	Tail       float64    `json:"turnaround_p95"` // 95th percentile of the time from arrival to completion
	Wait       float64    `json:"wait"`           // mean time in the queue
	Makespan   float64    `json:"makespan"`       // end of the last task
	Stops      int        `json:"stops"`          // number of times that tasks were stopped and continued later
	Retries    int        `json:"retries"`        // number of failures after which tasks were retried
	Cells      []NodeTask `json:"cells"`          // result of each task
}

// NodeTask is the result of a task that ran as processes.
type NodeTask struct {
	Name        string   `json:"task"`            // unique name
	Device      int      `json:"device"`          // index of the device; -1 if it did not run
	Arrival     float64  `json:"arrival_seconds"` // time of arrival in the file
	Began       *float64 `json:"began_seconds"`   // time of the first start; null if the task did not run
	Ended       *float64 `json:"ended_seconds"`   // time of the end; null if the task did not end
	Run         float64  `json:"run_seconds"`     // run time on devices in all attempts
	Starts      int      `json:"starts"`          // number of starts, including starts after stops
	Attempts    int      `json:"attempts"`        // number of attempts, including retries
	Interrupted int      `json:"interrupted"`     // number of attempts that ended with their executor
	End         string   `json:"end"`             // result of the task: done, failed or skipped
	// exit code of the last attempt as in a shell: 128 plus the signal number if a signal ended it
	Exit   int    `json:"exit"`
	Signal string `json:"signal"` // name of the signal that ended the task; empty if none
	Reason string `json:"reason"` // reason of the result, as text
	Log    string `json:"log"`    // path of the last attempt's log in the run folder
	// energy that the device used while the task ran, in joules; null if unknown, or if several tasks shared the device
	Joules *float64 `json:"joules"`
	Net    *float64 `json:"net_joules"` // energy without the energy of the idle device, in joules; null if unknown
	// method of the energy measurement: counter, integrated, not attributable (with a reason) or unknown
	Method string `json:"method"`
}

// NodePlan is the output of 'graft node run --dry-run'.
type NodePlan struct {
	Scheduler string      `json:"scheduler"` // name of the scheduler that would place the tasks
	Devices   []string    `json:"devices"`   // names of GPUs, or of slots of processors
	Note      string      `json:"note"`      // reason why GPUs or measurements are missing; empty if nothing is missing
	Makespan  float64     `json:"makespan"`  // end of the last task by the estimates, in seconds
	Starts    []NodeStart `json:"starts"`    // planned starts in order of time
}

// NodeStart is a planned start of a task.
type NodeStart struct {
	Task    string   `json:"task"`          // name of the task
	Device  string   `json:"device"`        // name of the device
	At      float64  `json:"at_seconds"`    // time of the first start in seconds
	Until   float64  `json:"until_seconds"` // time of the end in seconds
	Starts  int      `json:"starts"`        // number of starts, including starts after stops
	Program string   `json:"program"`       // path of the program
	Command []string `json:"command"`       // arguments, starting with the program's name
	Folder  string   `json:"folder"`        // working directory; empty means the working directory of graft
	Env     []string `json:"env"`           // additional environment variables
}

// NodeRunKind describes the run folders that 'graft node run' writes.
var NodeRunKind = &Kind{Name: "node-run", By: "graft node run",
	Title: "run of a machine's tasks", Titles: "runs of a machine's tasks",
	matches: hasManifestAnd(ResolvedFile, execute.JournalFile), read: readNodeTasks, list: nodeRunOverview}

// TelemetryStream is the name of the table of telemetry samples from the devices.
const TelemetryStream = "telemetry"

func readNodeTasks(f *Folder, r *Run) error {
	o := &NodeRunOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	if r.Ended {
		if err := execute.CheckEnded(f.Files, f.Path, o.Tasks); err != nil {
			return err
		}
	}
	r.Seeded = false
	r.Quantities = append(r.Quantities, seedless("turnaround", document.UnitSeconds, Lower, o.Turnaround),
		seedless("makespan", document.UnitSeconds, Lower, o.Makespan),
		seedless("completed", "tasks", Higher, float64(o.Completed)))
	sum, all := 0.0, len(o.Cells) > 0
	for _, t := range o.Cells {
		if t.Joules == nil {
			all = false
			continue
		}
		sum += *t.Joules
	}
	if all {
		r.Quantities = append(r.Quantities, seedless("joules", document.UnitJoules, Lower, sum))
	}
	return nil
}
