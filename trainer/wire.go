package trainer

import (
	"time"

	"graft/torch"
)

// order is what the leader of a job tells a process that follows, as a line of
// JSON; tensors go from process to process by themselves. One of the parts is given.
type order struct {
	Meet     *meeting    `json:"meet,omitempty"`
	Copy     *likeness   `json:"copy,omitempty"`
	Train    *trainOrder `json:"train,omitempty"`
	Evaluate *splitOrder `json:"evaluate,omitempty"`
}

// meeting makes a group.
type meeting struct {
	Rank    int           `json:"rank"`
	Size    int           `json:"size"`
	Store   string        `json:"store"`
	Threads int           `json:"threads"`
	Timeout time.Duration `json:"timeout_ns"`
}

// likeness is all that a follower takes over from the leader but tensors, which are
// broadcast next.
type likeness struct {
	Options   Options        `json:"options"`
	DType     torch.DType    `json:"dtype"`
	Network   map[string]any `json:"network"`           // its form
	Lessons   []int          `json:"lessons,omitempty"` // the shape of a larger network's, while there are some
	Counts    []int64        `json:"counts"`            // steps of each of the optimizer's slots, in the order of the trained tensors
	Generator []byte         `json:"generator"`
}

// trainOrder is some steps of an epoch.
type trainOrder struct {
	Epoch       int                    `json:"epoch"`
	From        int                    `json:"from"` // of the epoch's order
	Rows        int                    `json:"rows"`
	Optimizer   torch.OptimizerOptions `json:"optimizer"`
	Taught      bool                   `json:"taught"`
	Temperature float64                `json:"temperature"`
	Share       float64                `json:"share"`
	Fall        float64                `json:"fall"`
}

// splitOrder is an evaluation.
type splitOrder struct {
	Test bool `json:"test"` // false is the validation split
}

// answer is what a follower says: once that it is ready, then after each order.
type answer struct {
	Data  string `json:"data,omitempty"`  // digest of its images, when it is ready
	Lost  bool   `json:"lost,omitempty"`  // another process was lost, and nothing was done
	Error string `json:"error,omitempty"` // why it could not
}
