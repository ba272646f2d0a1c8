package config

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/cluster/fabric/graph"
	"graft/cluster/fabric/networks"
	"graft/config/decode"
	"graft/internal/files"
	"graft/model"
)

// GraphOptions say what becomes of networks that are given as graphs; files of graphs need none.
type GraphOptions struct {
	Batch   int    // examples in a step; zero means 64
	Size    int    // height and width of images, pixels; zero is the network's own
	Profile string // times of a device, by name or file; empty means round-gpu
}

// largestGraph is in bytes.
const largestGraph = 256 << 20

// ReadGraph reads the graph of a training step: a profile of PipeDream where the name ends in .txt, a
// graph where a file in JSON has operations, and else a network's file or a network of the zoo.
func ReadGraph(fsys files.FS, name string, o GraphOptions) (*graph.Profile, error) {
	switch {
	case strings.EqualFold(filepath.Ext(name), ".txt"):
		text, err := decode.ReadAll(fsys, name, largestGraph)
		if err != nil {
			return nil, fmt.Errorf("read a graph: %w", err)
		}
		return graph.ReadPipeDream(bufio.NewReader(bytes.NewReader(text)), graphName(name), name)
	case isJSON(name):
		text, err := decode.ReadAll(fsys, name, largestGraph)
		if err != nil {
			return nil, fmt.Errorf("read a graph: %w", err)
		}
		var top map[string]json.RawMessage
		if json.Unmarshal(text, &top) != nil || top["operations"] != nil {
			return graph.ReadJSON(bytes.NewReader(text), name)
		}
	}
	return graphOfNetwork(fsys, name, o)
}

// graphName is the name of a file without its ending; that of graph.txt is the name of its folder.
func graphName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if name == "graph" && filepath.Dir(path) != "." {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}

func graphOfNetwork(fsys files.FS, name string, o GraphOptions) (*graph.Profile, error) {
	var n *model.Network
	var err error
	if isPath(name) || isJSON(name) {
		n, err = ReadNetwork(fsys, name)
	} else {
		n, err = model.Zoo(name, model.ZooOptions{})
	}
	if err != nil {
		return nil, err
	}
	if o.Size != 0 {
		if len(n.Input) != 3 || o.Size < 1 {
			return nil, fmt.Errorf("size %d of the images of %s: expected at least 1, and a network of images",
				o.Size, name)
		}
		n.Input = model.Shape{n.Input[0], o.Size, o.Size}
		if isPath(name) || isJSON(name) {
			err = n.Check()
		} else {
			n, err = model.Zoo(name, model.ZooOptions{Input: n.Input})
		}
		if err != nil {
			return nil, fmt.Errorf("images of %d pixels: %w", o.Size, err)
		}
	}
	if o.Profile == "" {
		o.Profile = "round-gpu"
	}
	profile, err := FindProfile(fsys, o.Profile)
	if err != nil {
		return nil, err
	}
	return networks.Profile(n, networks.Options{Batch: o.Batch, Profile: profile})
}

// CheckGraph refuses a graph without work: its step would take no time.
func CheckGraph(p *graph.Profile) error {
	for _, n := range p.Nodes {
		if n.Forward+n.Backward > 0 {
			return nil
		}
	}
	return errors.New("no operation takes time; give forward and backward times")
}
