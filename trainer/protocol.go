package trainer

import (
	"time"

	"graft/torch"
)

// order is a command from the leader of a job to a follower, as a line of JSON. Tensors
// go from process to process by themselves. Exactly one field is set.
type order struct {
	Meet     *rendezvous `json:"meet,omitempty"`
	Copy     *snapshot   `json:"copy,omitempty"`
	Train    *trainOrder `json:"train,omitempty"`
	Evaluate *splitOrder `json:"evaluate,omitempty"`
	Stored   *storeReply `json:"stored,omitempty"` // to a call of the store, during another order
}

// rendezvous forms a group.
type rendezvous struct {
	Rank int `json:"rank"`
	Size int `json:"size"`
	// path of the file in which processes of one machine find each other
	File string `json:"file,omitempty"`
	// number of the leader's store in which processes of several machines do; zero on one
	Meeting int64         `json:"meeting,omitempty"`
	Threads int           `json:"threads"`
	Timeout time.Duration `json:"timeout_ns"`
}

// snapshot is the leader's state without its tensors, which are broadcast after it.
type snapshot struct {
	Options Options        `json:"options"`
	DType   torch.DType    `json:"dtype"`
	Network map[string]any `json:"network"`           // its form
	Logits  []int          `json:"lessons,omitempty"` // shape of a larger network's logits, during distillation
	// steps of the optimizer's slots, in the order of the trained tensors
	Counts    []int64 `json:"counts"`
	Generator []byte  `json:"generator"`
}

// trainOrder is some steps of an epoch.
type trainOrder struct {
	Seed        int64                  `json:"seed"` // of the order of the epoch's images
	From        int                    `json:"from"` // in that order
	Rows        int                    `json:"rows"`
	Rates       []float64              `json:"rates"` // of the steps
	Optimizer   torch.OptimizerOptions `json:"optimizer"`
	Distill     bool                   `json:"distill"`
	Temperature float64                `json:"temperature"`
	Share       float64                `json:"share"`
	Past        int                    `json:"taught"`
	Length      int                    `json:"course"`
	First       bool                   `json:"first,omitempty"`  // the first steps of the job
	Scaler      *torch.Scaler          `json:"scaler,omitempty"` // of the loss; nil means none
	Batch       int                    `json:"batch"`            // rows of a step
	// rows of which gradients are computed at once; zero means the batch
	Part     int  `json:"part"`
	Measured bool `json:"measured,omitempty"` // the last step measures squares of gradients
}

// splitOrder is an evaluation.
type splitOrder struct {
	Test bool `json:"test"` // false is the validation split
}

// answer is a follower's reply: one when it is ready, then one to each order. Before it come calls of the store.
type answer struct {
	Store *storeCall `json:"store,omitempty"`

	Data   string `json:"data,omitempty"`   // digest of its images, when it is ready
	Lost   bool   `json:"lost,omitempty"`   // another process was lost, and nothing was done
	Error  string `json:"error,omitempty"`  // why the order failed
	Leaves bool   `json:"leaves,omitempty"` // the follower takes no more orders
}
