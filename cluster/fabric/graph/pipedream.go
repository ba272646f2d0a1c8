package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLine is the maximum length of a line of a profile, in bytes.
const maxLine = 1 << 20

// ReadPipeDream reads a profile in PipeDream's text format (Narayanan et al., SOSP 2019;
// github.com/msr-fiddle/pipedream). The file has a line for each node, then an indented line for each edge. An example
// of a node is "node3 -- ReLU() -- forward_compute_time=3.1, backward_compute_time=9.2, activation_size=64.0,
// parameter_size=0.0"; an example of an edge is "node3 -- node4". A list such as [6291456.0; 0.0] may replace a size;
// the size is then the sum of the list. Duplicate edges are counted once. Errors name the file and the line.
func ReadPipeDream(r io.Reader, model, file string) (*Profile, error) {
	read := pipeDream{profile: Profile{Model: model}, places: map[string]int{}, edges: map[[2]int]bool{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	number := 0
	for lines.Scan() {
		number++
		if err := read.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is longer than %d bytes; check that the file is a PipeDream profile", maxLine)
		}
		return nil, fmt.Errorf("%s:%d: %w", file, number+1, err)
	}
	return read.end(file)
}

// pipeDream is a partially read profile.
type pipeDream struct {
	profile Profile
	places  map[string]int // index of nodes, by name
	edges   map[[2]int]bool
	open    []pipeDreamEdge // edges whose nodes may follow later
	number  int
}

type pipeDreamEdge struct {
	from, to string
	line     int
}

func (p *pipeDream) line(text string) error {
	p.number++
	if len(p.profile.Nodes) > maxNodes || len(p.open) > maxEdges {
		return fmt.Errorf("the graph exceeds the limit of %d nodes or the limit of %d edges", maxNodes, maxEdges)
	}
	pieces := strings.Split(text, " -- ")
	for k, piece := range pieces {
		pieces[k] = strings.TrimSpace(piece[strings.LastIndexByte(piece, '\t')+1:])
	}
	switch {
	case len(pieces) == 1 && pieces[0] == "":
		return nil
	case len(pieces) == 2:
		p.open = append(p.open, pipeDreamEdge{pieces[0], pieces[1], p.number})
		return nil
	case len(pieces) > 2:
		return p.node(pieces)
	}
	return fmt.Errorf("unexpected line %q; expected a node (nodeN -- Kind(…) -- forward_compute_time=…) or an edge "+
		"(nodeN -- nodeM)",
		clip(text))
}

// pipeDreamValues are the four values of a node, in the order of the file.
var pipeDreamValues = [4]string{"forward_compute_time", "backward_compute_time", "activation_size", "parameter_size"}

func (p *pipeDream) node(pieces []string) error {
	name := pieces[0]
	id, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
	if err != nil || !strings.HasPrefix(name, "node") {
		return fmt.Errorf("invalid node name %q; expected node and a number, such as node1", clip(name))
	}
	if _, ok := p.places[name]; ok {
		return fmt.Errorf("duplicate node %s; give each node a unique number", name)
	}
	kind, detail, _ := strings.Cut(pieces[1], "(")
	node := Node{ID: id, Kind: kind, Detail: strings.TrimSuffix(detail, ")")}
	fields := strings.Split(pieces[2], ", ")
	if len(fields) < len(pipeDreamValues) {
		return fmt.Errorf("%s has %d values; expected %d values: %s", name, len(fields), len(pipeDreamValues),
			strings.Join(pipeDreamValues[:], ", "))
	}
	for k, to := range []*float64{&node.Forward, &node.Backward, &node.Activation, &node.Parameters} {
		if *to, err = pipeDreamValue(fields[k]); err != nil {
			return fmt.Errorf("%s, %s: %w", name, pipeDreamValues[k], err)
		}
	}
	if err := node.validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.places[name] = len(p.profile.Nodes)
	p.profile.Nodes = append(p.profile.Nodes, node)
	return nil
}

// pipeDreamValue parses the value of a field: a number, or a list, which is summed.
func pipeDreamValue(field string) (float64, error) {
	_, text, _ := strings.Cut(field, "=")
	list, ok := strings.CutPrefix(strings.TrimSpace(text), "[")
	if !ok {
		return number(text)
	}
	list, ok = strings.CutSuffix(list, "]")
	if !ok {
		return 0, fmt.Errorf("the list %q is not closed; expected ]", clip(text))
	}
	sum := 0.0
	for part := range strings.SplitSeq(list, ";") {
		v, err := number(part)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", clip(text))
	}
	return v, nil
}

// end resolves the edges and validates the profile.
func (p *pipeDream) end(file string) (*Profile, error) {
	for _, e := range p.open {
		var edge [2]int
		for k, name := range []string{e.from, e.to} {
			place, ok := p.places[name]
			if !ok {
				return nil, fmt.Errorf("%s:%d: an edge refers to unknown node %q", file, e.line,
					clip(name))
			}
			edge[k] = place
		}
		if !p.edges[edge] {
			p.edges[edge] = true
			p.profile.Edges = append(p.profile.Edges, edge)
		}
	}
	if err := p.profile.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &p.profile, nil
}

// clip shortens text for a message.
func clip(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}
