package team

import (
	"encoding/json"
	"time"
)

// order is a command from the leader of a job to a follower, as a line of JSON. Tensors are transferred separately.
// Exactly one field is set.
type order struct {
	Meet *rendezvous `json:"meet,omitempty"`
	// job state without its tensors, which are broadcast after it
	Copy   json.RawMessage `json:"copy,omitempty"`
	Stored *storeReply     `json:"stored,omitempty"` // reply to a call of the store, during another order
	work   json.RawMessage // the job's own order, which is the whole line
}

// MarshalJSON encodes an order. An order that comes from the job is already encoded and is returned unchanged.
func (o order) MarshalJSON() ([]byte, error) {
	if o.work != nil {
		return o.work, nil
	}
	type plain order
	return json.Marshal(plain(o))
}

// UnmarshalJSON decodes an order. It keeps a line without the fields Meet, Copy and Stored as the job's own order.
func (o *order) UnmarshalJSON(line []byte) error {
	type plain order
	if err := json.Unmarshal(line, (*plain)(o)); err != nil {
		return err
	}
	if o.Meet == nil && o.Copy == nil && o.Stored == nil {
		o.work = append(o.work, line...)
	}
	return nil
}

// rendezvous forms a group.
type rendezvous struct {
	Rank int `json:"rank"`
	Size int `json:"size"`
	// path of the file through which processes on one machine find each other
	File string `json:"file,omitempty"`
	// number of the group in the leader's store, for processes on several machines; zero on one machine
	Meeting int64         `json:"meeting,omitempty"`
	Threads int           `json:"threads"`
	Timeout time.Duration `json:"timeout_ns"`
}

// answer is a follower's reply: one when it is ready, then one per order. Calls of the store come before it.
type answer struct {
	Store *storeCall `json:"store,omitempty"`

	Data   string `json:"data,omitempty"`   // digest of the follower's images, when it is ready
	Lost   bool   `json:"lost,omitempty"`   // another process was lost, and the order had no effect
	Error  string `json:"error,omitempty"`  // reason why the order failed
	Leaves bool   `json:"leaves,omitempty"` // the follower takes no more orders
}
