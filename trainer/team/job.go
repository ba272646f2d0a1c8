package team

import (
	"encoding/json"

	"graft/results"
	"graft/torch"
)

// Job is the leader's side of the work.
type Job interface {
	// Devices is the number of devices of the allocation.
	Devices() int
	// Images returns the name and the digest of the images. Followers with a different digest are refused.
	Images() (name, digest string)
	// Device is the device of the leader's tensors.
	Device() torch.Device
	// State returns the state outside of tensors, for JSON, and the tensors that followers copy.
	State() (any, []*torch.Tensor, error)
	// Revision counts changes of the tensors, except by work of the team.
	Revision() int
	// Record writes an event to the job's log. Processes is zero if the event does not change their number.
	Record(event results.JobEvent, processes int, why string) error
	// Present reports to an elastic job its number of devices.
	Present(devices int)
}

// Replica is a follower's copy of the state that the job trains.
type Replica interface {
	// Load loads the images, and returns their digest and their device.
	Load() (digest string, d torch.Device, err error)
	// Copy replaces the copy by one of a job's state, and returns its tensors, into which the leader's tensors are
	// written.
	Copy(state json.RawMessage, d torch.Device) ([]*torch.Tensor, error)
	// Work does the follower's part of an order.
	Work(order json.RawMessage, peers *torch.Peers) error
	// Close frees the copy.
	Close()
}
