// Package surgery changes the architecture of a network file without changing its function.
package surgery

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/net2net"
	"graft/runner/app"
	"graft/torch/weights"
)

// Options configures [Run].
type Options struct {
	Model     string   // path of a network file, or name of a network from the zoo; required
	Classes   int      // number of classes; zero means the network's own
	Input     string   // shape of an example; empty means the network's own
	Weights   string   // path of the weights; empty means random weights
	Actions   []string // actions in the syntax of net2net.ParseAction
	Replay    string   // path of a record to replay before the actions; empty means none
	Keep      int      // number of changes of the replayed record to keep; a negative value keeps all
	BatchFile string   // path of a file of inputs; empty means random inputs
	Rows      int      // number of examples in a random batch

	// options for net2net; Run sets their batch and seed
	net2net.Options
	RandomSeed uint64 // seed of random weights and inputs
	Device     string // device of the tensors: cpu or cuda:N
	Exact      bool   // computes in float64; false means float32

	Verify    bool    // fails if the function changes
	Tolerance float64 // maximum relative change of the function; zero means a default per mode

	Force     bool   // replaces existing output files
	Out       string // path for the weights; empty means that they are not written
	ModelOut  string // path for the network; empty means that it is not written
	RecordOut string // path for the record; empty means that it is not written
}

func (o *Options) validate() error {
	switch {
	case o.Model == "":
		return failure.Usagef("option \"model\" is missing; 'graft model list' lists the networks from the zoo")
	case len(o.Actions) == 0 && o.Replay == "":
		return failure.Usagef("option \"action\" is missing; expected an action such as deepen:0")
	case o.Keep >= 0 && o.Replay == "":
		return failure.Usagef("option \"shrink\" reverts changes of a record; name the record with option \"replay\"")
	case o.Keep < -1 || o.Rows < 2 || !isAmount(o.Noise) || !isAmount(o.Tolerance):
		return failure.Usagef("option \"shrink\" is %d, option \"rows\" is %d, option \"noise\" is %g, option "+
			"\"tolerance\" is %g; the minimum is -1 for shrink, 2 for rows, and 0 for noise and tolerance, which "+
			"must be finite", o.Keep, o.Rows, o.Noise, o.Tolerance)
	case !slices.Contains(net2net.Forms(), o.Form):
		return failure.Usagef("option \"form\" is %q; expected one of: %v", o.Form, net2net.Forms()[1:])
	case !slices.Contains(net2net.SplitRules(), o.Split):
		return failure.Usagef("option \"split\" is %q; expected one of: %v", o.Split, net2net.SplitRules()[1:])
	case o.Compat != net2net.Off && o.Compat != net2net.Original && o.Compat != net2net.WithoutNorm:
		return failure.Usagef("option \"compat\" is %q; expected original or original-without-norm", o.Compat)
	}
	if o.Out != "" {
		if _, err := weights.FormatOf(o.Out); err != nil {
			return failure.With(failure.Usage, err)
		}
	}
	return nil
}

// isAmount reports whether a number is finite and not negative.
func isAmount(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// output is an output file.
type output struct {
	option, path string
	extensions   []string // permitted extensions; nil for weights, whose format validate checks
}

// outputs returns the requested output files.
func (o *Options) outputs() []output {
	list := []output{{"out", o.Out, nil}, {"model-out", o.ModelOut, []string{".toml", ".json"}},
		{"record", o.RecordOut, []string{".json"}}}
	return slices.DeleteFunc(list, func(f output) bool { return f.path == "" })
}

// mayWrite returns an error if an output file has the wrong extension, is also an input or another output, or exists
// without the option to replace it.
func (o *Options) mayWrite(fsys files.FS) error {
	taken := map[string]string{} // options by path
	for _, file := range o.outputs() {
		if file.extensions != nil && !slices.Contains(file.extensions, strings.ToLower(filepath.Ext(file.path))) {
			return failure.Usagef("option %q is %q; expected a file name that ends in %s", file.option, file.path,
				strings.Join(file.extensions, ", "))
		}
		path := filepath.Clean(file.path)
		if other := taken[path]; other != "" {
			return failure.Usagef("option %q and option %q are both %s: choose another output file", other, file.option,
				path)
		}
		taken[path] = file.option
		for _, in := range []string{o.Model, o.Weights, o.Replay, o.BatchFile} {
			if err := app.MayConvert(fsys, in, path, o.Force); err != nil {
				return err
			}
		}
		if err := app.MayWriteFile(fsys, path, o.Force); err != nil {
			return err
		}
	}
	return nil
}

// plan reads the actions and the record.
func (o *Options) plan(fsys files.FS) ([]net2net.Action, []*net2net.Change, error) {
	var actions []net2net.Action
	var faults []error
	for _, text := range o.Actions {
		a, err := net2net.ParseAction(text)
		actions, faults = append(actions, a), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, nil, failure.With(failure.Usage, err)
	}
	deepens := slices.ContainsFunc(actions, func(a net2net.Action) bool { return a.Kind == "deepen" })
	if o.Form != net2net.Auto && !deepens {
		return nil, nil, failure.Usagef("option \"form\" applies to new blocks, but no action adds one; omit the " +
			"option, or add an action such as deepen:0")
	}
	if o.Replay == "" {
		return actions, nil, nil
	}
	record, err := net2net.ReadRecord(fsys, o.Replay)
	if err != nil && !errors.As(err, new(*fs.PathError)) { // the file was read and is not a record
		err = failure.With(failure.Damaged, err)
	}
	if err == nil && o.Keep >= len(record) {
		err = failure.Usagef("option \"shrink\" is %d, but %s has %s, so there is nothing to revert; "+
			"expected a smaller number", o.Keep, o.Replay, words.Plural(len(record), "change"))
	}
	return actions, record, err
}
