package team

import (
	"encoding/json"

	"graft/results"
	"graft/torch"
)

// Job is the interface through which a team uses the leader's job.
type Job interface {
	// Devices returns the number of devices in the allocation.
	Devices() int
	// Images returns the name and the digest of the dataset. Followers whose images have a different digest are
	// refused.
	Images() (name, digest string)
	// Device returns the device of the leader's tensors.
	Device() torch.Device
	// State returns the state that followers copy: a value to encode as JSON, and tensors.
	State() (any, []*torch.Tensor, error)
	// Revision returns a number that increases when the leader's tensors change, except during work that all processes
	// do together, such as training steps.
	Revision() int
	// Record writes an event to the job's log. The second parameter is the new number of processes; zero if the event
	// does not change this number.
	Record(event results.JobEvent, processes int, why string) error
	// Present reports the number of ready devices to an elastic job.
	Present(devices int)
}

// Replica is a follower's copy of the state that the job trains.
type Replica interface {
	// Load reads the dataset. It returns the dataset's digest and the device that holds the dataset.
	Load() (digest string, d torch.Device, err error)
	// Copy replaces the replica's state with a copy of a job's state. It returns the tensors into which the leader's
	// tensors are written.
	Copy(state json.RawMessage, d torch.Device) ([]*torch.Tensor, error)
	// Work executes this follower's part of an order, such as its share of a training step.
	Work(order json.RawMessage, peers *torch.Peers) error
	// Close frees the replica.
	Close()
}
