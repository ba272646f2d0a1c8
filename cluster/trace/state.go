package trace

import "fmt"

// stateNames are the names of states in our files, which are those of Slurm.
var stateNames = [...]string{Unknown: "", Completed: "COMPLETED", Cancelled: "CANCELLED", Failed: "FAILED",
	TimedOut: "TIMEOUT", NodeFailed: "NODE_FAIL", Running: "RUNNING"}

// otherStates are further names of states in traces.
var otherStates = map[string]State{
	"Pass": Completed, "Failed": Failed, "Killed": Cancelled,
	"Terminated": Completed, "Succeeded": Completed, "Running": Running,
	"OUT_OF_MEMORY": Failed, "DEADLINE": TimedOut, "BOOT_FAIL": NodeFailed,
}

// stateOf reads a state; one that is not known is Unknown, for clusters have states of
// their own, and none of them changes what a job asked for.
func stateOf(text []byte) State {
	for s, name := range stateNames {
		if string(text) == name {
			return State(s)
		}
	}
	return otherStates[string(text)]
}

// String is the state's name; Unknown has none.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes, and what other traces call a state. One
// that is not known is an error.
func (s *State) UnmarshalText(text []byte) error {
	*s = stateOf(text)
	if *s == Unknown && len(text) > 0 {
		return fmt.Errorf("there is no state %.40q: use %v", text, stateNames[1:])
	}
	return nil
}
