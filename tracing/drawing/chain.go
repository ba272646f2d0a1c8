package drawing

import (
	"fmt"
	"slices"
	"strings"

	"graft/model"
	"graft/tracing"
)

// link is the end of a chain of nodes that leads to an edge. Chains that fork share their beginning, so a join can find
// the fork.
type link struct {
	node  node
	block *tracing.Block // block that contains the node; nil outside of blocks
	out   tracing.Edge   // output of the node
	prev  *link
	depth int
}

func (l *link) then(n node, out tracing.Edge, in *tracing.Block) *link {
	return &link{node: n, block: in, out: out, prev: l, depth: l.depth + 1}
}

// fork returns the last common link of chains.
func fork(chains []*link) *link {
	common := chains[0]
	for _, other := range chains[1:] {
		for common != other {
			if common.depth > other.depth {
				common = common.prev
			} else {
				other = other.prev
			}
		}
	}
	return common
}

// nodeBuilder is the algebra that converts a network into nodes.
type nodeBuilder struct {
	trace  *tracing.Trace
	blocks map[*tracing.Layer]*tracing.Block
	next   int // index of the layer that runs next
}

// layout arranges the network in one column.
func layout(t *tracing.Trace) (column, error) {
	w := &nodeBuilder{trace: t, blocks: map[*tracing.Layer]*tracing.Block{}}
	for _, b := range t.Blocks {
		for _, l := range b.Layers {
			w.blocks[l] = b
		}
	}
	input := tracing.Edge{Shape: t.Network.Input,
		Parts: []tracing.Part{{Space: t.Spaces[0], Channels: t.Network.Input[0]}}}
	begin := &link{node: pill{"input", input}, out: input}
	end, err := model.Run[*link](t.Network, begin, w)
	if err != nil {
		return column{}, err
	}
	end = end.then(pill{"output", end.out}, end.out, nil)
	return w.column(nil, end, nil), nil
}

// Layer appends a box for the next layer to the chain of boxes x.
func (w *nodeBuilder) Layer(_ model.Place, _ *model.Leaf, x *link) (*link, error) {
	l := w.trace.Layers[w.next]
	w.next++
	return x.then(box{l}, l.Out, w.blocks[l]), nil
}

// Sum places the shortcut of a residual connection next to its body.
func (w *nodeBuilder) Sum(path string, body, shortcut *link) (*link, error) {
	in := w.around(path)
	at := fork([]*link{body, shortcut})
	return at.then(sum{w.column(at, body, in), w.column(at, shortcut, in), body.out}, body.out, in), nil
}

// Cat places the branches of a concatenation side by side.
func (w *nodeBuilder) Cat(path string, parts []*link) (*link, error) {
	in := w.around(path)
	at := fork(parts)
	joined := tracing.Edge{Shape: slices.Clone(parts[0].out.Shape)}
	joined.Shape[0] = 0
	var lanes []column
	for _, part := range parts {
		joined.Shape[0] += part.out.Shape[0]
		joined.Parts = append(joined.Parts, part.out.Parts...)
		lanes = append(lanes, w.column(at, part, in))
	}
	return at.then(cat{lanes, joined}, joined, in), nil
}

// around is the marked block that a container is or lies in; nil outside of blocks.
func (w *nodeBuilder) around(path string) *tracing.Block {
	for _, b := range w.trace.Blocks {
		if b.Marked != model.Unmarked && strings.HasPrefix(path+".", b.Name+".") {
			return b
		}
	}
	return nil
}

// column is a chain after its first link, with frames around its blocks. The whole chain may already lie in a block.
func (w *nodeBuilder) column(from, to *link, in *tracing.Block) column {
	var links []*link
	for l := to; l != from; l = l.prev {
		links = append(links, l)
	}
	slices.Reverse(links)
	c := column{}
	if from != nil {
		c.in = from.out
	}
	for len(links) > 0 {
		n := 1
		for n < len(links) && links[n].block == links[0].block {
			n++
		}
		c.add(w.framed(links[:n], in)...)
		links = links[n:]
	}
	return c
}

// framed converts the links of one block to nodes.
func (w *nodeBuilder) framed(links []*link, in *tracing.Block) []placed {
	var nodes []placed
	for _, l := range links {
		nodes = append(nodes, placed{l.node, l.out})
	}
	block := links[0].block
	if block == nil || block == in {
		return nodes
	}
	number := slices.Index(w.trace.Blocks, block)
	f := frame{block: block, title: fmt.Sprintf("block %d, %s", number, originOf(block).word)}
	f.inside.add(nodes...)
	return []placed{{f, nodes[len(nodes)-1].out}}
}
