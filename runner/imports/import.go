// Package imports reads networks that other programs exported.
package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model/graph"
	"graft/model/graph/trial"
	"graft/model/onnx/reader"
	"graft/model/pt2"
	"graft/runner/app"
	"graft/torch"
	"graft/torch/weights"
)

// Options configures [Run].
type Options struct {
	Out string // NAME of the output files NAME.toml and NAME.safetensors; required
	// path of the module description that graft_export.py wrote; empty means the description in the archive or, without
	// one, modules derived from the operators
	Modules string
	Force   bool // replaces existing files
}

// Report describes what Run read and wrote.
type Report struct {
	Network    string       `json:"network"`    // class name of the network
	Parameters int          `json:"parameters"` // number of trained parameters
	Operators  int          `json:"operators"`  // number of operators
	Files      []string     `json:"files"`      // paths of the written files; empty if operators cannot be mapped
	Notes      []string     `json:"notes"`      // facts that the file lacks, and changes that graft made
	Unmapped   []graph.Miss `json:"unmapped"`   // operators that graft does not support

	Print string `json:"-"`
}

// Run reads an archive of torch.export or an ONNX model and writes it as a network file with a weight file. If it
// cannot map some operators, it writes nothing and lists these operators.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Report, error) {
	if o.Out == "" {
		return nil, failure.Usagef(
			"option \"out\" must be the name of the output files without extension: net for net.toml and " +
				"net.safetensors")
	}
	stem := strings.TrimSuffix(o.Out, ".toml")
	r := &Report{Files: []string{stem + ".toml", stem + ".safetensors"}, Notes: []string{}, Unmapped: []graph.Miss{}}
	for _, file := range r.Files {
		if err := app.MayWriteFile(env.Files, file, o.Force); err != nil {
			return nil, err
		}
	}
	net, err := read(env.Files, path, o.Modules)
	var unmapped graph.Unmapped
	if errors.As(err, &unmapped) {
		return &Report{Files: []string{}, Notes: []string{}, Unmapped: unmapped}, err
	}
	if err != nil {
		return nil, err
	}
	g := net.Graph
	r.Network, r.Parameters, r.Operators, r.Print = g.Name, g.Parameters(), len(g.Nodes), g.String()
	r.Notes = append(r.Notes, net.Notes...)
	note, err := try(ctx, env.Files, g, net.Weights)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, failure.AsDamage(err))
	}
	r.Notes = append(r.Notes, note...)
	if err := weights.Write(env.Files, r.Files[1], net.Weights); err != nil {
		return nil, err
	}
	return r, config.WriteImported(env.Files, r.Files[0], g)
}

// readers maps extensions to readers of files.
var readers = map[string]func(io.ReaderAt, int64) (*graph.Imported, error){".pt2": pt2.Read, ".onnx": reader.Read}

// read reads a file of either kind.
func read(fsys files.FS, path, modules string) (*graph.Imported, error) {
	kind, known := readers[strings.ToLower(filepath.Ext(path))]
	if !known {
		return nil, failure.Usagef("%s: unknown extension; expected .pt2 for an archive of torch.export, "+
			"or .onnx for ONNX", path)
	}
	net, err := readFile(fsys, path, kind)
	if err != nil || modules == "" {
		return net, err
	}
	text, err := files.ReadAll(fsys, modules, graph.LargestSidecar)
	if err != nil {
		return nil, fmt.Errorf("read the modules of a network: %w", err)
	}
	described, err := graph.ReadModules(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", modules, failure.AsDamage(err))
	}
	net.Graph.Describe(described)
	return net, nil
}

func readFile(fsys files.FS, path string,
	kind func(io.ReaderAt, int64) (*graph.Imported, error)) (*graph.Imported, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	net, err := kind(file, info.Size())
	if errors.As(err, new(graph.Unmapped)) {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, failure.AsDamage(err))
	}
	return net, nil
}

// try runs the network once in a separate process. If sizes other than the batch may change, the file may not specify
// the sizes that the network supports: an error that leaves the process alive is then a note.
func try(ctx context.Context, fsys files.FS, g *graph.Graph, set *weights.Set) (notes []string, err error) {
	if err := binds(g, set); err != nil {
		return nil, err
	}
	_, err = trial.Run(ctx, fsys, g, graph.Attempt{Weights: set}, trial.Limits{})
	free := slices.ContainsFunc(g.Input.Shape[1:], func(size graph.Size) bool { return size.Name != "" })
	if ended := new(trial.Ended); err != nil && free && !errors.As(err, &ended) && ctx.Err() == nil &&
		!errors.Is(err, torch.ErrNotLoaded) {
		return []string{fmt.Sprintf("the network does not run on inputs of %v: %v", g.Input.Shape, err)}, nil
	}
	return nil, err
}

// binds checks the operators and their arguments against LibTorch's.
func binds(g *graph.Graph, set *weights.Set) error {
	return torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, set)
		if err != nil {
			return err
		}
		_, err = n.Program(s, torch.ProgramOptions{})
		return err
	})
}
