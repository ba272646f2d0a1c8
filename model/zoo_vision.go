package model

import (
	"graft/model/graph"
	"graft/model/vision"
)

func viTTiny32(in Shape, classes int) (*graph.Graph, error) {
	return vision.ViT{Patch: 4, Width: 192, Heads: 3, Depth: 12}.Graph(in, classes)
}

func viTSmall32(in Shape, classes int) (*graph.Graph, error) {
	return vision.ViT{Patch: 4, Width: 384, Heads: 6, Depth: 12}.Graph(in, classes)
}

func viTTiny(in Shape, classes int) (*graph.Graph, error) {
	return vision.ViT{Patch: 16, Width: 192, Heads: 3, Depth: 12}.Graph(in, classes)
}

func viTSmall(in Shape, classes int) (*graph.Graph, error) {
	return vision.ViT{Patch: 16, Width: 384, Heads: 6, Depth: 12}.Graph(in, classes)
}

func mixer32(in Shape, classes int) (*graph.Graph, error) {
	return vision.Mixer{Patch: 4, Width: 128, Tokens: 64, Hidden: 512, Depth: 8}.Graph(in, classes)
}

func mixerSmall(in Shape, classes int) (*graph.Graph, error) {
	return vision.Mixer{Patch: 16, Width: 512, Tokens: 256, Hidden: 2048, Depth: 8}.Graph(in, classes)
}

func convNeXt32(in Shape, classes int) (*graph.Graph, error) {
	return vision.ConvNeXt{Patch: 2, Widths: []int{32, 64, 128}, Depths: []int{2, 2, 2}}.Graph(in, classes)
}

func convNeXtTiny(in Shape, classes int) (*graph.Graph, error) {
	return vision.ConvNeXt{Patch: 4, Widths: []int{96, 192, 384, 768}, Depths: []int{3, 3, 9, 3}}.Graph(in, classes)
}

func efficientNetB0(in Shape, classes int) (*graph.Graph, error) {
	return vision.EfficientNet{Stride: 2, Stem: 32, Stages: vision.B0(), Last: 1280, Drop: 0.2,
		Path: 0.2}.Graph(in, classes)
}
