// Package modeltest makes layers for tests.
package modeltest

import "graft/model"

// BatchNorm1d is a normalisation over features with PyTorch's defaults.
func BatchNorm1d(features int) model.BatchNorm {
	n := model.NewBatchNorm2d(features)
	n.Flat = true
	return n
}

// LayerNorm is a normalisation of examples with PyTorch's defaults.
func LayerNorm(sizes ...int) model.LayerNorm {
	return model.LayerNorm{Sizes: sizes, Eps: 1e-5, Affine: true}
}

// GroupNorm is a normalisation of groups of channels with PyTorch's defaults.
func GroupNorm(groups, features int) model.GroupNorm {
	return model.GroupNorm{Groups: groups, Features: features, Eps: 1e-5, Affine: true}
}
