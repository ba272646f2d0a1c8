package trace

import "fmt"

// stateNames are the names of states in graft's files, which are Slurm's names.
var stateNames = [...]string{Unknown: "", Completed: "COMPLETED", Cancelled: "CANCELLED", Failed: "FAILED",
	TimedOut: "TIMEOUT", NodeFailed: "NODE_FAIL", Running: "RUNNING", Preempted: "PREEMPTED", Pending: "PENDING",
	Requeued: "REQUEUED", OutOfMemory: "OUT_OF_MEMORY"}

// otherStates are further names of states in traces.
var otherStates = map[string]State{
	"Pass": Completed, "Failed": Failed, "Killed": Cancelled,
	"Terminated": Completed, "Succeeded": Completed, "Running": Running,
	"Pending": Pending, "Waiting": Pending,
	// Further states of Slurm, in the order of the manual pages of sacct and squeue.
	"BOOT_FAIL": NodeFailed, "DEADLINE": TimedOut, "RESIZING": Running, "REVOKED": Cancelled, "SUSPENDED": Running,
	"COMPLETING": Running, "CONFIGURING": Running, "STAGE_OUT": Running, "STOPPED": Running, "SIGNALING": Running,
	"REQUEUE_HOLD": Requeued, "REQUEUE_FED": Requeued, "SPECIAL_EXIT": Failed, "RESV_DEL_HOLD": Pending,
	"LAUNCH_FAILED": NodeFailed, "RECONFIG_FAIL": NodeFailed,
}

// stateOf reads a state. An unknown name becomes Unknown, because clusters have their own states, and states do not
// affect the requests of jobs.
func stateOf(text []byte) State {
	for s, name := range stateNames {
		if string(text) == name {
			return State(s)
		}
	}
	return otherStates[string(text)]
}

// String returns the state's name. The name is empty for Unknown.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// MarshalText returns the result of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the output of MarshalText and the names of states in other formats. It returns an error for an
// unknown name.
func (s *State) UnmarshalText(text []byte) error {
	*s = stateOf(text)
	if *s == Unknown && len(text) > 0 {
		return fmt.Errorf("unknown state %.40q; expected one of: %v", text, stateNames[1:])
	}
	return nil
}
