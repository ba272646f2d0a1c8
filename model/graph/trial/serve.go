package trial

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"strconv"

	"graft/internal/files"
	"graft/model/graph"
	"graft/torch"
)

// Additional file descriptors of a trial's process: started operators are recorded in the first, the reply goes to the
// second.
const (
	TraceFD = 3
	ReplyFD = 4
)

// Serve reads a graph from its input, runs it and writes the reply. It is the main function of a trial's process.
func Serve(fsys files.FS, in io.Reader, trace, out io.Writer) error {
	var r reply
	output, err := serve(fsys, in, trace)
	if r.Output = output; err != nil {
		r = reply{Error: err.Error(), Absent: errors.Is(err, torch.ErrNotLoaded)}
	}
	if err := gob.NewEncoder(out).Encode(r); err != nil {
		return fmt.Errorf("write the reply of a trial: %w", err)
	}
	return nil
}

func serve(fsys files.FS, in io.Reader, trace io.Writer) (*graph.Output, error) {
	if err := torch.Load(); err != nil {
		return nil, err
	}
	d := gob.NewDecoder(in)
	var r request
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("read the graph of a trial: %w", err)
	}
	g, a, err := received(d, &r)
	if err != nil {
		return nil, err
	}
	if err := r.Limits.impose(fsys); err != nil {
		return nil, err
	}
	_, _ = io.WriteString(trace, strconv.Itoa(started)+"\n")
	if err := torch.TraceCalls(TraceFD); err != nil {
		return nil, err
	}
	defer torch.TraceCalls(-1)
	o, err := g.Try(a)
	if o != nil && a.Values == nil {
		o.Values = nil // results for zeros, which are not used
	}
	return o, err
}

// started is recorded once the limits are set, before the first operator.
const started = -1
