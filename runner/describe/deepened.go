// Package describe computes layers, blocks, channels and costs of a network without running it.
package describe

import (
	"graft/model"
	"graft/net2net"
	"graft/net2net/rewrite"
	"graft/original/bilstm"
	"graft/tracing"
	"graft/tracing/axes"
)

// Deepened returns, for every block, the network after deepening this block.
func Deepened(n *model.Network) ([]*model.Network, error) {
	var all []*model.Network
	grow := func(a net2net.Action, compat net2net.Compat) error {
		grown := n.Sketch()
		_, err := net2net.Apply(grown, a, net2net.Options{Compat: compat})
		all = append(all, grown)
		return err
	}
	for _, a := range bilstm.Actions(n) {
		if err := grow(a, net2net.Original); err != nil {
			return nil, err
		}
	}
	proposals, err := net2net.Proposals(n)
	if err != nil {
		return nil, err
	}
	for _, a := range proposals {
		if a.Kind != "deepen" {
			continue
		}
		if err := grow(a, net2net.Off); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Blocks counts the blocks that can be deepened in a network.
func Blocks(n *model.Network) (int, error) {
	if n.Graph == nil {
		trace, err := tracing.Read(n)
		if err != nil {
			return 0, err
		}
		return len(trace.Blocks), nil
	}
	read, err := axes.Read(n.Graph)
	if err != nil {
		return 0, err
	}
	blocks, _ := rewrite.Blocks(read)
	return len(blocks), nil
}
