package model

import (
	"graft/model/graph"
	"graft/model/transformer"
)

func charGPT(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 128, Heads: 4, Depth: 4, Stacked: true})
}

func gpt2(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 768, Heads: 12, Depth: 12, Stacked: true, Dropout: 0.1})
}

func smallLLaMA(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 128, Heads: 4, Groups: 2, Hidden: 344, Depth: 4,
		Norm: transformer.RMSNorm, Positions: transformer.RotaryHalves, MLP: transformer.SwiGLU, Untied: true, NoBias: true})
}
