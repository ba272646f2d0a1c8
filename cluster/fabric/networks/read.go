package networks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/cluster/fabric/graph"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/trainer/clock"
)

// ReadOptions determines how a neural network is converted to a graph. It has no effect on files that already contain a
// graph.
type ReadOptions struct {
	Batch   int    // examples per step; zero means 64
	Size    int    // height and width of images in pixels; zero means the network's own size
	Profile string // device profile, by name or file; empty means round-gpu
}

// UsualProfile is the default device profile.
const UsualProfile = "round-gpu"

// Reader reads graphs of training steps.
type Reader struct {
	// Network reads a neural network from a TOML or JSON file.
	Network func(fsys files.FS, path string) (*model.Network, error)
	// Profile finds a device profile by its name, or reads its file.
	Profile func(fsys files.FS, name string) (*clock.Profile, error)
}

// largestGraph is the maximum size of a graph file in bytes.
const largestGraph = 256 << 20

// Read reads the graph of a training step. A file that [ReadGraph] does not read is a network file or the name of a
// network in graft's model zoo. Read returns an error for a graph without work, because its training step would take no
// time.
func (r Reader) Read(fsys files.FS, name string, o ReadOptions) (*graph.Profile, error) {
	p, err := ReadGraph(fsys, name)
	if p != nil || err != nil {
		return p, err
	}
	n, err := r.network(fsys, name, o.Size)
	if err != nil {
		return nil, err
	}
	if n.Graph != nil {
		return nil, fmt.Errorf("%s runs as a graph of operators, whose times a device profile cannot divide among "+
			"layers; use a network of layers, such as ResNet18, or write the operations with their times to a graph "+
			"file (.json)", name)
	}
	profile, err := r.Profile(fsys, cmp.Or(o.Profile, UsualProfile))
	if err != nil {
		return nil, err
	}
	if p, err = Profile(n, Options{Batch: o.Batch, Profile: profile}); err != nil {
		return nil, err
	}
	return p, checkWork(p)
}

// ReadGraph reads a file that contains a graph: a name that ends in .txt is a PipeDream profile, and a JSON file with
// operations is a graph. For any other name, it returns nil.
func ReadGraph(fsys files.FS, name string) (p *graph.Profile, err error) {
	isText := strings.EqualFold(filepath.Ext(name), ".txt")
	if !isText && !isJSON(name) {
		return nil, nil
	}
	text, err := decode.ReadAll(fsys, name, largestGraph)
	if err != nil {
		return nil, fmt.Errorf("read a graph: %w", err)
	}
	var top map[string]json.RawMessage
	switch {
	case isText:
		p, err = graph.ReadPipeDream(bufio.NewReader(bytes.NewReader(text)), graphName(name), name)
	case json.Unmarshal(text, &top) != nil || top["operations"] != nil:
		p, err = graph.ReadJSON(bytes.NewReader(text), name)
	}
	if p == nil || err != nil {
		return nil, err
	}
	return p, checkWork(p)
}

// graphName returns the name of a file without its extension; for graph.txt, the name of its folder.
func graphName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if name == "graph" && filepath.Dir(path) != "." {
		return filepath.Base(filepath.Dir(path))
	}
	return name
}

func isJSON(path string) bool { return strings.EqualFold(filepath.Ext(path), ".json") }

// isFile reports whether a text names a file instead of a network from the zoo.
func isFile(text string) bool { return isJSON(text) || files.IsPath(text) }

// network returns a network of a file or of the zoo, for images of a size; zero keeps the network's size.
func (r Reader) network(fsys files.FS, name string, size int) (n *model.Network, err error) {
	if isFile(name) {
		n, err = r.Network(fsys, name)
	} else {
		n, err = model.Zoo(name, model.ZooOptions{})
	}
	if err != nil || size == 0 {
		return n, err
	}
	if len(n.Input) != 3 || size < 1 {
		return nil, fmt.Errorf("image size %d cannot be used with %s; expected a size of at least 1, and a network "+
			"whose input is an image", size, name)
	}
	n.Input = model.Shape{n.Input[0], size, size}
	if isFile(name) {
		err = n.Check()
	} else {
		n, err = model.Zoo(name, model.ZooOptions{Input: n.Input})
	}
	if err != nil {
		return nil, fmt.Errorf("image size %d: %w", size, err)
	}
	return n, nil
}

// checkWork rejects a graph whose operations take no time.
func checkWork(p *graph.Profile) error {
	for _, n := range p.Nodes {
		if n.Forward+n.Backward > 0 {
			return nil
		}
	}
	return errors.New("all operations of the graph take zero time; set their forward and backward times")
}
