package graph

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WritePipeDream writes a profile in the text form that [ReadPipeDream] reads.
func (p *Profile) WritePipeDream(w io.Writer) error {
	out := bufio.NewWriter(w)
	for k := range p.Nodes {
		n := &p.Nodes[k]
		fmt.Fprintf(out, "node%d -- %s(%s)", n.ID, plain(n.Kind), plain(n.Detail))
		for k, v := range [4]float64{n.Forward, n.Backward, n.Activation, n.Parameters} {
			between := ", "
			if k == 0 {
				between = " -- "
			}
			fmt.Fprintf(out, "%s%s=%s", between, pipeDreamValues[k], strconv.FormatFloat(v, 'f', -1, 64))
		}
		fmt.Fprintln(out)
	}
	for _, e := range p.Edges {
		fmt.Fprintf(out, "\tnode%d -- node%d\n", p.Nodes[e[0]].ID, p.Nodes[e[1]].ID)
	}
	return out.Flush()
}

// plain removes the characters that separate the parts of a line.
func plain(text string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ", " -- ", " - ").Replace(text)
}
