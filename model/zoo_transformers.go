package model

import (
	"cmp"

	"graft/model/graph"
	"graft/model/transformer"
)

func charGPT(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 128, Heads: 4, Depth: 4,
		Stacked: true})
}

func gpt2(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 768, Heads: 12, Depth: 12,
		Stacked: true, Dropout: 0.1})
}

func smallLLaMA(in Shape, tokens int) (*graph.Graph, error) {
	return transformer.New(transformer.Config{Vocabulary: tokens, Context: in[0], Width: 128, Heads: 4, Groups: 2,
		Hidden: 344, Depth: 4, Norm: transformer.RMSNorm, Positions: transformer.RotaryHalves, MLP: transformer.SwiGLU,
		Untied: true, NoBias: true})
}

// bert is an encoder with BERT's norms, epsilon and dropout (Devlin et al. 2019).
func bert(o ZooOptions, c transformer.Config) (*graph.Graph, error) {
	c.Context, c.Classes, c.Task = o.Input[0], o.Classes, transformer.TextLabel
	if o.Each {
		c.Task = transformer.TokenLabel
	}
	c.Vocabulary = cmp.Or(o.Tokens, c.Vocabulary)
	c.Post, c.Full, c.Padded, c.EmbedNorm, c.Eps, c.Dropout = true, true, true, true, 1e-12, 0.1
	return transformer.New(c)
}

func smallBERT(o ZooOptions) (*graph.Graph, error) {
	return bert(o, transformer.Config{Vocabulary: 257, Width: 128, Heads: 4, Depth: 4})
}

func bertBase(o ZooOptions) (*graph.Graph, error) {
	return bert(o, transformer.Config{Vocabulary: 30522, Width: 768, Heads: 12, Depth: 12})
}
