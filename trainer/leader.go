package trainer

import (
	"graft/results"
	"graft/torch"
)

// leader is a job as seen by its team.
type leader struct{ core *core }

// Devices returns the number of devices in the allocation.
func (l leader) Devices() int { return l.core.Devices }

// Images returns the name and the digest of the dataset.
func (l leader) Images() (name, digest string) { return l.core.Data.Name, l.core.Data.Digest }

// Device returns the device that holds the network.
func (l leader) Device() torch.Device { return l.core.Network.Placement().Device }

// State returns the state that followers copy.
func (l leader) State() (any, []*torch.Tensor, error) {
	c, err := l.core.snapshot()
	if err != nil {
		return nil, nil, err
	}
	return c, l.core.tensors(), nil
}

// Revision counts changes of the job's state, except changes by training steps.
func (l leader) Revision() int { return l.core.revision }

// Record writes an event to the log of events. The parameter processes is the new number of processes; zero if it does
// not change.
func (l leader) Record(event results.JobEvent, processes int, why string) error {
	n := l.core.note(event)
	n.Processes, n.Why = processes, why
	return l.core.Book.Note(n)
}

// Present tells a live scheduler how many devices have a running process.
func (l leader) Present(devices int) {
	if live, ok := l.core.Scheduler.(*Live); ok {
		live.Present(devices)
	}
}
