// Package modeltest creates layers for tests.
package modeltest

import "graft/model"

// BatchNorm1d returns a batch normalisation over features with PyTorch's defaults.
func BatchNorm1d(features int) model.BatchNorm {
	n := model.NewBatchNorm2d(features)
	n.Flat = true
	return n
}

// LayerNorm returns a layer normalisation with PyTorch's defaults.
func LayerNorm(sizes ...int) model.LayerNorm {
	return model.LayerNorm{Sizes: sizes, Eps: 1e-5, Affine: true}
}

// GroupNorm returns a group normalisation with PyTorch's defaults.
func GroupNorm(groups, features int) model.GroupNorm {
	return model.GroupNorm{Groups: groups, Features: features, Eps: 1e-5, Affine: true}
}
