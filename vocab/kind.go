package vocab

import (
	"fmt"

	"graft/model"
	"graft/torch"
)

// Kind classifies a token by its function, regardless of its size. The zero Kind is Other.
type Kind int

// Kinds of tokens. Other covers all layers without a kind of their own, which are described only by their sizes.
const (
	Other Kind = iota
	Convolution
	Matrix // linear layer
	BatchNorm
	LayerNorm
	GroupNorm
	ReLU
	ReLU6
	LeakyReLU
	Sigmoid
	Tanh
	GELU
	SiLU
	Hardswish
	ELU
	AvgPool
	MaxPool
	AdaptivePool
	Flatten
	Dropout
	Identity
	Sum // sum of branches
	Cat // concatenation of branches
	Attention
	Embedding
	Recurrent // LSTM, GRU or RNN
	kinds
)

// graphKinds is the first of the kinds that only networks with graphs have. Policies that learned only from trees treat
// them as Other.
const graphKinds = Attention

var kindNames = [kinds]string{"other", "convolution", "matrix", "batch-norm", "layer-norm", "group-norm",
	"relu", "relu6", "leaky-relu", "sigmoid", "tanh", "gelu", "silu", "hardswish", "elu", "avg-pool", "max-pool",
	"adaptive-pool", "flatten", "dropout", "identity", "sum", "cat", "attention", "embedding", "recurrent"}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

var activationKinds = map[torch.Activation]Kind{torch.ReLU: ReLU, torch.ReLU6: ReLU6, torch.LeakyReLU: LeakyReLU,
	torch.Sigmoid: Sigmoid,
	torch.Tanh:    Tanh, torch.GELU: GELU, torch.SiLU: SiLU, torch.Hardswish: Hardswish, torch.ELU: ELU}

// kindOf never fails: an unknown layer is Other.
func kindOf(l model.Layer) Kind {
	switch l := l.(type) {
	case model.Conv2d:
		return Convolution
	case model.Linear:
		return Matrix
	case model.BatchNorm:
		return BatchNorm
	case model.LayerNorm:
		return LayerNorm
	case model.GroupNorm:
		return GroupNorm
	case model.Activation:
		return activationKinds[l.Kind]
	case model.AvgPool2d:
		return AvgPool
	case model.MaxPool2d:
		return MaxPool
	case model.AdaptiveAvgPool2d:
		return AdaptivePool
	case model.Flatten:
		return Flatten
	case model.Dropout:
		return Dropout
	case model.Identity:
		return Identity
	}
	return Other
}
