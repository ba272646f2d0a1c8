// Package export writes trained networks for other programs.
package export

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/model/onnx"
	"graft/model/python"
	"graft/runner/app"
	"graft/torch/weights"
	"graft/trainer"
)

// Options configures [Run].
type Options struct {
	Out     string        // path of the output file, whose extension selects the form; required
	Weights string        // path of the weights, for a network without trained weights
	Force   bool          // replaces existing files
	At      trainer.Which // which network of the run to export; empty means trainer.AtEnd
}

// Report lists the files that Run wrote.
type Report struct {
	Network    string   `json:"network"`    // class name of the network
	Parameters int      `json:"parameters"` // number of trained parameters
	Files      []string `json:"files"`      // paths of the files
	Notes      []string `json:"notes"`      // properties of the network that the files lack
}

// source is a network and its weights.
type source struct {
	network *model.Network
	weights *weights.Set
}

// form writes one kind of file, and returns the paths of associated files.
type form struct {
	extension string
	about     string
	write     func(fsys files.FS, path, version string, s source) error
	beside    func(path string) []string // associated files; nil means none
	lacks     func(s source) []string    // properties of the network that the files lack; nil means none
}

var forms = []form{
	{".py", "a plain PyTorch module, with weights in a .safetensors file of the same name", writePython,
		func(path string) []string { return []string{weightsBeside(path)} }, nil},
	{".onnx", "an ONNX model in eval mode", writeONNX, nil, roundedTypes},
	{".pth", "a PyTorch state dict", writeWeights, nil, nil},
	{".pt", "a PyTorch state dict", writeWeights, nil, nil},
	{".safetensors", "weights alone", writeWeights, nil, nil},
	{".toml", "the network without weights, as a network file", writeNetwork, nil, nil},
	{".json", "the network without weights, as a network file in JSON", writeNetwork, nil, nil},
}

// Form describes a file format that Run writes.
type Form struct {
	Extension string // file name extension that selects the form
	About     string // help text in one line
}

// List describes the file formats that Run writes.
func List() (list []Form) {
	for _, f := range forms {
		list = append(list, Form{f.extension, f.about})
	}
	return list
}

// Forms returns a help text about the file formats, with one line per extension.
func Forms() string {
	var b strings.Builder
	for _, f := range forms {
		fmt.Fprintf(&b, "  %-14s %s\n", f.extension, f.about)
	}
	return b.String()
}

// Run exports the trained network of a run folder, or a network from the zoo or a file with weights from another file.
func Run(env *app.Env, target string, o Options) (*Report, error) {
	extension := strings.ToLower(filepath.Ext(o.Out))
	k := slices.IndexFunc(forms, func(f form) bool { return f.extension == extension })
	if k < 0 {
		return nil, failure.Usagef("%q: unknown extension; expected one of:\n%s", o.Out, Forms())
	}
	paths := []string{o.Out}
	if forms[k].beside != nil {
		paths = append(paths, forms[k].beside(o.Out)...)
	}
	for _, path := range paths {
		if err := app.MayWriteFile(env.Files, path, o.Force); err != nil {
			return nil, err
		}
	}
	s, err := read(env.Files, target, o, extension != ".toml" && extension != ".json")
	if err != nil {
		return nil, err
	}
	if err := forms[k].write(env.Files, o.Out, env.Version, s); err != nil {
		return nil, err
	}
	r := &Report{s.network.Name(), s.network.Parameters(), paths, []string{}}
	if forms[k].lacks != nil {
		r.Notes = append(r.Notes, forms[k].lacks(s)...)
	}
	return r, nil
}

// roundedTypes returns a note if ONNX, which computes in float32, rounds otherwise than the network.
func roundedTypes(s source) []string {
	used := map[weights.DType]bool{}
	for _, t := range s.weights.Tensors {
		used[t.DType] = true
	}
	if g := s.network.Graph; g != nil {
		used[g.Input.DType] = true
		for _, n := range g.Nodes {
			for _, a := range n.Args {
				if dtype, ok := a.Value.(weights.DType); ok {
					used[dtype] = true
				}
			}
		}
	}
	var others []string
	for _, dtype := range []weights.DType{weights.Float64, weights.Float16, weights.BFloat16} {
		if used[dtype] {
			others = append(others, dtype.String())
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the network uses %s, and the ONNX file stores and computes everything in float32: "+
		"its outputs differ by rounding", strings.Join(others, " and "))}
}

// read loads a target and checks that its weights match the network.
func read(fsys files.FS, target string, o Options, weighty bool) (s source, err error) {
	path := o.Weights
	if !slices.Contains([]trainer.Which{"", trainer.AtEnd, trainer.AtBest}, o.At) {
		return s, failure.Usagef("option \"at\" is %q; must be %s or %s", o.At, trainer.AtEnd, trainer.AtBest)
	}
	if app.IsFolder(fsys, target) {
		s.network, s.weights, err = app.Trained(fsys, target, o.At)
	} else if s.network, err = app.LoadNetwork(fsys, target, nil, 0); err == nil && path == "" && weighty {
		err = failure.Usagef("%s has no trained weights: name a weight file, or a run folder", target)
	}
	if err == nil && path != "" {
		s.weights, err = app.ReadWeights(fsys, path)
	}
	if err != nil || s.weights == nil {
		return s, err
	}
	if err := s.network.Fits(s.weights); err != nil {
		return s, failure.With(failure.Usage, err)
	}
	s.weights, err = s.network.WithConstants(s.weights)
	return s, err
}

func writeNetwork(fsys files.FS, path, _ string, s source) error {
	return config.WriteNetwork(fsys, path, s.network, app.ImagesOf(s.network, s.weights).Classes...)
}

func writeWeights(fsys files.FS, path, _ string, s source) error {
	return app.WriteWeights(fsys, path, s.network, s.weights)
}

func writeONNX(fsys files.FS, path, version string, s source) error {
	data, err := onnx.Encode(s.network, s.weights,
		onnx.Options{Producer: "graft " + version, Properties: app.ImagesOf(s.network, s.weights).Metadata()})
	if err != nil {
		return err
	}
	return writeFile(fsys, path, data)
}

// weightsBeside returns the weight file of a Python module.
func weightsBeside(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".safetensors"
}

func writePython(fsys files.FS, path, _ string, s source) error {
	images := app.ImagesOf(s.network, s.weights)
	o := python.Options{Weights: filepath.Base(weightsBeside(path)), Mean: images.Mean, Deviation: images.Deviation,
		Classes: images.Classes}
	text, err := python.Source(s.network, o)
	if err != nil {
		return err
	}
	if err := weights.Write(fsys, weightsBeside(path), s.weights); err != nil {
		return err
	}
	return writeFile(fsys, path, []byte(text))
}

func writeFile(fsys files.FS, path string, data []byte) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}
