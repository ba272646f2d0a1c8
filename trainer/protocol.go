package trainer

import "graft/torch"

// order is work that all processes of a job do together. Exactly one field is set.
type order struct {
	Train    *trainOrder `json:"train,omitempty"`
	Evaluate *splitOrder `json:"evaluate,omitempty"`
}

// snapshot is the leader's state without its tensors, which are broadcast after it.
type snapshot struct {
	Options Options        `json:"options"`
	DType   torch.DType    `json:"dtype"`
	Network map[string]any `json:"network"`           // form of the network
	Logits  []int          `json:"lessons,omitempty"` // shape of a larger network's logits, during distillation
	// number of optimizer steps of each trained tensor
	Counts    []int64  `json:"counts"`
	Born      []string `json:"born,omitempty"` // trained tensors with births, during a warm-up of new parameters
	Generator []byte   `json:"generator"`
}

// trainOrder is a number of steps of an epoch.
type trainOrder struct {
	Seed        int64                  `json:"seed"` // seed of the order of the epoch's images
	From        int                    `json:"from"` // first position in that order
	Rows        int                    `json:"rows"`
	Rates       []float64              `json:"rates"` // learning rates of the steps
	Optimizer   torch.OptimizerOptions `json:"optimizer"`
	Distill     bool                   `json:"distill"`
	Temperature float64                `json:"temperature"`
	Share       float64                `json:"share"`
	Past        int                    `json:"taught"`
	Length      int                    `json:"course"`
	First       bool                   `json:"first,omitempty"`  // the first steps of the job
	Scaler      *torch.Scaler          `json:"scaler,omitempty"` // loss scaler; nil means none
	Batch       int                    `json:"batch"`            // rows per step
	// maximum number of rows per gradient computation; zero means the whole batch
	Part     int   `json:"part"`
	Measured bool  `json:"measured,omitempty"` // the last step measures squares of gradients
	WarmUp   int   `json:"warm_up,omitempty"`  // steps of a warm-up of new parameters; zero means none
	Taken    int64 `json:"taken,omitempty"`    // steps of the job before these, for the warm-up
}

// splitOrder is an order to evaluate a split.
type splitOrder struct {
	Test bool `json:"test"` // the test split; false is the validation split
}
