package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/internal/decode"
)

// File is a graph in JSON: forward operations, numbered from 1, and edges, which are pairs of these numbers. The second
// operation of an edge uses the output of the first.
type File struct {
	Model      string      `json:"model"`      // name of the network
	Operations []Operation `json:"operations"` // operations, at least one
	Edges      [][]int     `json:"edges"`      // pairs of operation IDs
}

// Operation is an operation in a [File].
type Operation struct {
	ID         int     `json:"id"`               // number from 1 to the number of operations
	Kind       string  `json:"kind"`             // kind of the operation, such as Conv2d
	Detail     string  `json:"detail,omitempty"` // arguments or the path of a layer; may be empty
	Forward    float64 `json:"forward_ms"`       // time of one forward pass
	Backward   float64 `json:"backward_ms"`      // time of one backward pass
	Activation float64 `json:"activation_bytes"` // size of the output in bytes
	Parameters float64 `json:"parameter_bytes"`  // number of trained parameters
}

// maxFile is the maximum size of a graph file, in bytes.
const maxFile = 256 << 20

// ReadJSON reads the graph of a [File]. Unknown keys cause an error; errors name the file.
func ReadJSON(r io.Reader, file string) (*Profile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file is larger than the limit of %d MiB; split the graph", maxFile>>20)
	}
	var f File
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&f)
		if _, end := decoder.Token(); err == nil && end != io.EOF {
			err = errors.New("unexpected text after the graph; expected one graph per file")
		}
		if err == nil {
			err = decode.RepeatedKey(text)
		}
	}
	var p *Profile
	if err == nil {
		p, err = f.profile()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

func (f *File) profile() (*Profile, error) {
	p := &Profile{Model: f.Model}
	if p.Model == "" {
		return nil, errors.New("model is empty; expected the name of a network")
	}
	place := map[int]int{}
	for k, o := range f.Operations {
		p.Nodes = append(p.Nodes, Node(o))
		place[o.ID] = k
	}
	seen := map[[2]int]bool{}
	for k, e := range f.Edges {
		if len(e) != 2 {
			return nil, fmt.Errorf("edges[%d] has %d numbers; expected 2 IDs of operations", k, len(e))
		}
		from, ok := place[e[0]]
		to, ok2 := place[e[1]]
		if !ok || !ok2 {
			return nil, fmt.Errorf("edges[%d] connects %d and %d; expected IDs of operations", k, e[0], e[1])
		}
		edge := [2]int{from, to}
		if seen[edge] {
			return nil, fmt.Errorf("edges[%d] connects %d and %d, as an earlier edge does; remove one of them", k, e[0],
				e[1])
		}
		seen[edge] = true
		p.Edges = append(p.Edges, edge)
	}
	return p, p.Validate()
}

// WriteJSON writes a profile as a [File].
func (p *Profile) WriteJSON(w io.Writer) error {
	f := File{Model: p.Model, Operations: []Operation{}, Edges: [][]int{}}
	for _, n := range p.Nodes {
		f.Operations = append(f.Operations, Operation(n))
	}
	for _, e := range p.Edges {
		f.Edges = append(f.Edges, []int{p.Nodes[e[0]].ID, p.Nodes[e[1]].ID})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(f)
}
