package weights

import (
	"fmt"
	"io"

	"graft/torch/pickle"
)

// readPickle reads the object of a .pth file; tensors in it become *view.
func (g *graph) readPickle(r io.Reader) (any, error) {
	return pickle.Read(r, g.pickleOptions())
}

// pickleOptions registers the functions of state dicts, and NumPy's, because a checkpoint may hold NumPy numbers, such
// as a best accuracy.
func (g *graph) pickleOptions() pickle.Options {
	known := pickle.NumPy()
	known["torch._utils._rebuild_tensor"] = rebuildTensor
	known["torch._utils._rebuild_tensor_v2"] = rebuildTensor
	known["torch._utils._rebuild_parameter"] = rebuildParameter
	known["torch._utils._rebuild_parameter_with_state"] = rebuildParameter
	known["torch.Size"] = rebuildSize
	const defaultMaxPickle = 256 << 20
	return pickle.Options{
		Constructors: known,
		Persistent:   g.persistent,
		MaxBytes:     min(defaultMaxPickle, g.opt.MaxBytes),
	}
}

// rebuildTensor takes (storage, offset, size, stride, …); the remaining arguments concern gradients.
func rebuildTensor(args pickle.Tuple) (any, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("the call that rebuilds a tensor has %d arguments, expected at least 4", len(args))
	}
	s, ok1 := args[0].(*storage)
	offset, ok2 := args[1].(int64)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("the call that rebuilds a tensor begins with a %T and a %T, expected a storage and an "+
			"offset", args[0], args[1])
	}
	shape, err := asInts(args[2])
	if err != nil {
		return nil, err
	}
	stride, err := asInts(args[3])
	if err != nil {
		return nil, err
	}
	return &view{storage: s, offset: offset, shape: shape, stride: stride}, nil
}

// rebuildParameter takes (tensor, …); a parameter counts as a tensor.
func rebuildParameter(args pickle.Tuple) (any, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("a parameter has no tensor")
	}
	v, ok := args[0].(*view)
	if !ok {
		return nil, fmt.Errorf("the call that rebuilds a parameter begins with a %T, expected a tensor", args[0])
	}
	return v, nil
}

func rebuildSize(args pickle.Tuple) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("a call of torch.Size has %d arguments, expected 1", len(args))
	}
	return pickle.As[pickle.Tuple](args[0])
}

func asInts(value any) ([]int64, error) {
	items, err := pickle.As[pickle.Tuple](value)
	if err != nil {
		return nil, err
	}
	if len(items) > maxDimensions {
		return nil, fmt.Errorf("a tensor has %d dimensions, expected at most %d", len(items), maxDimensions)
	}
	ints := make([]int64, len(items))
	for i, item := range items {
		if ints[i], err = pickle.As[int64](item); err != nil {
			return nil, err
		}
	}
	return ints, nil
}
