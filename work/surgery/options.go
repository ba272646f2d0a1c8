package surgery

import (
	"errors"
	"io/fs"

	"graft/files"
	"graft/net2net"
	"graft/results/failure"
	"graft/torch/weights"
)

// Options are the flags of `graft surgery`.
type Options struct {
	Model     string   // required
	Classes   int      // zero is the network's own number
	Input     string   // empty is the network's own
	Weights   string   // empty draws fresh ones
	Actions   []string // as ParseAction reads them
	Replay    string   // a record to do again, before the actions
	Keep      int      // how many changes of replay's network to keep; negative is no shrinking
	BatchFile string   // a file of inputs; empty draws random ones
	Rows      int      // examples in a random batch

	// Options are those of the operations; their batch and seed come from below.
	net2net.Options
	RandomSeed uint64 // of all that is drawn
	Device     string // cpu or cuda:N
	Exact      bool   // float64 in place of float32

	Verify    bool    // fail where the function is not kept
	Tolerance float64 // zero is one for each mode

	Out       string // a file for the weights; empty writes none
	ModelOut  string // a file for the network; empty writes none
	RecordOut string // a file for the record; empty writes none
}

func (o *Options) validate() error {
	switch {
	case o.Model == "":
		return failure.Usagef("--model says on which network; 'graft model list' shows the zoo")
	case len(o.Actions) == 0 && o.Replay == "":
		return failure.Usagef("--action says what to do, such as --action deepen:0")
	case o.Keep >= 0 && o.Replay == "":
		return failure.Usagef("--shrink takes a record's changes back; name it with --replay")
	case o.Keep < -1 || o.Rows < 2 || o.Noise < 0 || o.Tolerance < 0:
		return failure.Usagef("--shrink is at least 0, --rows at least 2, --noise and --tolerance are not negative")
	case o.Form != net2net.Auto && o.Form != net2net.Identity && o.Form != net2net.Residual:
		return failure.Usagef("--form %q: there are identity and residual", o.Form)
	case o.Compat != net2net.Off && o.Compat != net2net.Original && o.Compat != net2net.WithoutNorm:
		return failure.Usagef("--compat %q: there are original and original-without-norm", o.Compat)
	}
	if o.Out != "" {
		if _, err := weights.FormatOf(o.Out); err != nil {
			return failure.With(failure.Usage, err)
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
	if o.Replay == "" {
		return actions, nil, nil
	}
	record, err := net2net.ReadRecord(fsys, o.Replay)
	if err != nil && !errors.As(err, new(*fs.PathError)) { // it was read, and is none
		err = failure.With(failure.Damaged, err)
	}
	return actions, record, err
}
