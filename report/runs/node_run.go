package runs

import (
	"graft/cluster/execute"
	"graft/report/document"
)

// NodeRunOutcome is the outcome.json of tasks that ran as processes on one machine. Times are in seconds
// since the beginning, without those in which no executor ran.
type NodeRunOutcome struct {
	Folder     string     `json:"folder"`         // of the run
	Scheduler  string     `json:"scheduler"`      // that placed the tasks
	Devices    []string   `json:"devices"`        // GPUs by their names, or slots of processors
	Note       string     `json:"note"`           // the reason why GPUs or measurements are missing; empty if none is
	Tasks      int        `json:"tasks"`          // of the file
	Completed  int        `json:"completed"`      // with exit code 0
	Turnaround float64    `json:"turnaround"`     // mean time from arrival to completion
	Tail       float64    `json:"turnaround_p95"` // its 95th percentile
	Wait       float64    `json:"wait"`           // mean part of it on no device
	Makespan   float64    `json:"makespan"`       // end of the last task
	Stops      int        `json:"stops"`          // times that tasks were stopped and went on later
	Retries    int        `json:"retries"`        // failures after which tasks were run again
	Cells      []NodeTask `json:"cells"`          // each task
}

// NodeTask is a task that ran.
type NodeTask struct {
	Name        string   `json:"task"`            // unique
	Device      int      `json:"device"`          // place among the devices; -1 if it did not run
	Arrival     float64  `json:"arrival_seconds"` // of the file
	Began       *float64 `json:"began_seconds"`   // null if it did not run
	Ended       *float64 `json:"ended_seconds"`   // null if it did not end
	Run         float64  `json:"run_seconds"`     // on a device, in all attempts
	Starts      int      `json:"starts"`          // also after stops
	Attempts    int      `json:"attempts"`        // with retries
	Interrupted int      `json:"interrupted"`     // attempts that ended with their executor
	End         string   `json:"end"`             // done, failed or skipped
	// code of the last attempt, as a shell has it: 128 and the number of a signal that ended it
	Exit   int    `json:"exit"`
	Signal string `json:"signal"` // that ended it; empty if none did
	Reason string `json:"reason"` // in words
	Log    string `json:"log"`    // of the last attempt, in the run folder
	// that the device used while the task ran; null where unknown or shared
	Joules *float64 `json:"joules"`
	Net    *float64 `json:"net_joules"` // without the idle device; null where unknown
	// of the measurement: counter, integrated, not attributable with the reason, or unknown
	Method string `json:"method"`
}

// NodePlan holds the output of 'graft node run --dry-run'.
type NodePlan struct {
	Scheduler string      `json:"scheduler"` // that would place the tasks
	Devices   []string    `json:"devices"`   // GPUs by their names, or slots of processors
	Note      string      `json:"note"`      // the reason why GPUs or measurements are missing; empty if none is
	Makespan  float64     `json:"makespan"`  // by the estimates, s
	Starts    []NodeStart `json:"starts"`    // in the order of time
}

// NodeStart is a task that would start.
type NodeStart struct {
	Task    string   `json:"task"`          // its name
	Device  string   `json:"device"`        // its name
	At      float64  `json:"at_seconds"`    // first start
	Until   float64  `json:"until_seconds"` // end
	Starts  int      `json:"starts"`        // also after stops
	Program string   `json:"program"`       // path
	Command []string `json:"command"`       // arguments, from the program's name on
	Folder  string   `json:"folder"`        // working folder; empty is that of the command
	Env     []string `json:"env"`           // further variables
}

// NodeRunKind covers the runs of 'graft node run'.
var NodeRunKind = &Kind{Name: "node-run", By: "graft node run",
	Title: "run of a machine's tasks", Titles: "runs of a machine's tasks",
	matches: hasManifestAnd(ResolvedFile, execute.JournalFile), read: readNodeTasks}

// TelemetryStream is the table of the readings of devices.
const TelemetryStream = "telemetry"

func readNodeTasks(f *Folder, r *Run) error {
	o := &NodeRunOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
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
