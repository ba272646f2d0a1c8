package failures

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/internal/files"
	"graft/internal/validate"
	"graft/internal/words"
)

// Options describes how nodes fail and what jobs lose. Failures are simulated if file or outages is set. Paths use the
// operating system's syntax. Relative paths are looked up in the working directory first, then in the folder of the
// file.
type Options struct {
	// Path of the failures: a fault trace in the JSON format of InfiniteHBD, which any cluster can replay; a CSV table
	// of outages of this cluster's nodes with the columns vc, node, from [s], to [s], kind and class; or the output of
	// Slurm's "sacctmgr --parsable2 show event". May be empty.
	File string `config:",path" json:",omitempty" result:"contents"`
	// Names of the cluster's nodes in their order, without spare nodes, as names or Slurm hostlist expressions such as
	// "ga[01-12]", for a file with names of nodes. Slurm events of other nodes are left out. Empty numbers the nodes of
	// a file of Slurm events in the natural order of their names.
	Nodes []string `json:",omitempty"`
	// Use of the file. "fit" generates failures with a model fitted to the file, in which schedule.seed draws new
	// failures; drains of a table or of Slurm events stay as they are. "replay" is for a fault trace: each node of the
	// cluster has the faults of one node of the trace, chosen at random with schedule.seed. Default: "replay" for a
	// fault trace; the outages of a table and Slurm events are simulated as they are.
	Source string `config:",one=|replay|fit" json:",omitempty"`
	// Number of nodes that the fault trace observed, including nodes without faults, which the file does not list. Zero
	// means the number in a file that graft wrote, and otherwise the number of nodes in the file.
	FileNodes int `json:",omitempty"`
	// Days that the fault trace observed. After this time the failures repeat. Zero means the days in a file that graft
	// wrote, and otherwise up to the last event, rounded up to a whole day.
	FileDays float64 `json:",omitempty"`
	// Factor of the failure rates with source = "fit", from above 0 to 1000. Default 1. For no failures, remove the
	// section.
	RateFactor float64 `json:",omitempty"`
	// Outages of single nodes, in addition to the file.
	Outages []Listed `json:",omitempty"`
	// Number of spare nodes of each virtual cluster, in addition to its nodes. A spare node replaces a node that is
	// failed or drained. Default 0.
	SpareNodes int `json:",omitempty"`
	// Work between two checkpoints of a job, in seconds at the speed of the requested GPUs. A job that loses a node, or
	// is evicted, repeats the work since its last checkpoint. Zero means no checkpoints: the job repeats all work since
	// its start.
	Checkpoint int64 `config:"checkpoint_seconds" json:",omitempty"`
	// Delay after a failure, in seconds, before the job is queued again or, if it continues on fewer GPUs, before it
	// continues. Default 0.
	Restart int64 `config:"restart_seconds" json:",omitempty"`
	// Reaction of a job that loses some of its nodes: "restart" releases all its GPUs and queues it again; "shrink"
	// continues on the other nodes, under schedulers that support this. Default "restart".
	OnFailure string `config:",one=|restart|shrink" json:",omitempty"`
	// Reaction of a job that runs on a node when a drain begins: "finish" lets it run to its end; "preempt" saves its
	// state and queues it again. Default "finish".
	OnDrain string `config:",one=|finish|preempt" json:",omitempty"`
}

// Values of the keys source, on_failure and on_drain.
const (
	Replay     = "replay"
	FromFit    = "fit"
	ByRestart  = "restart"
	ByShrink   = "shrink"
	ByFinish   = "finish"
	ByPreempt  = "preempt"
	mostSpares = 100_000
)

// Enabled reports whether nodes can fail.
func (o *Options) Enabled() bool { return o.File != "" || len(o.Outages) > 0 }

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	if o.Source == FromFit && o.RateFactor == 0 {
		o.RateFactor = 1
	}
}

// Validate returns an error that lists every invalid option.
func (o *Options) Validate() error {
	var faults validate.Faults
	if err := o.reading().Validate(); err != nil {
		faults = append(faults, fmt.Errorf("file_nodes, file_days: %w", err))
	}
	one := func(key, value string, values ...string) {
		faults.When(value != "" && value != values[0] && value != values[1], "%s is %q; must be %q or %q", key, value,
			values[0], values[1])
	}
	one("source", o.Source, Replay, FromFit)
	one("on_failure", o.OnFailure, ByRestart, ByShrink)
	one("on_drain", o.OnDrain, ByFinish, ByPreempt)
	faults.When(!(o.RateFactor >= 0 && o.RateFactor <= mostFactor), "rate_factor is %g; must be above 0 and at most %d",
		o.RateFactor, mostFactor)
	faults.When(o.RateFactor != 0 && o.Source != FromFit,
		"rate_factor is %g, but source is not \"fit\"; set source = \"fit\", or remove rate_factor", o.RateFactor)
	faults.When(o.SpareNodes < 0 || o.SpareNodes > mostSpares, "spare_nodes is %d; must be between 0 and %d",
		o.SpareNodes, mostSpares)
	faults.When(o.Checkpoint < 0 || o.Checkpoint > maxSecond, "checkpoint_seconds is %d; must be between 0 and %d",
		o.Checkpoint, maxSecond)
	faults.When(o.Restart < 0 || o.Restart > maxSecond, "restart_seconds is %d; must be between 0 and %d", o.Restart,
		maxSecond)
	faults.When(len(o.Outages) > maxListed, "outages has %d entries; at most %d", len(o.Outages), maxListed)
	faults.When(o.File == "" && (o.FileNodes != 0 || o.FileDays != 0 || o.Source != ""),
		"file is missing; name a fault trace, or remove file_nodes, file_days and source")
	faults.When(o.File == "" && len(o.Nodes) > 0, "file is missing; name a file with names of nodes, or remove nodes")
	if _, err := o.numbers(); err != nil {
		faults = append(faults, fmt.Errorf("nodes: %w", err))
	}
	faults.When(!o.Enabled() && (o.SpareNodes != 0 || o.Restart != 0 || o.OnFailure != "" ||
		o.OnDrain != ""), "no node fails; set failures.file or failures.outages, or remove the section")
	for k := range o.Outages {
		if err := o.Outages[k].Validate(); err != nil {
			faults = append(faults, fmt.Errorf("outages: entry %d: %w", k+1, err))
		}
	}
	return errors.Join(faults...)
}

// numbers returns the number of each node in nodes, in the order of the cluster's nodes.
func (o *Options) numbers() (map[string]int, error) {
	names, err := hosts(o.Nodes)
	if err != nil {
		return nil, err
	}
	return numbered(names)
}

// reading returns the options for reading a fault trace.
func (o *Options) reading() ReadOptions { return ReadOptions{Nodes: o.FileNodes, Days: o.FileDays} }

// Source holds the failures that options name.
type Source struct {
	Options
	Trace  *Trace   // fault trace; nil if there is none
	Model  *Model   // model fitted to the trace; nil unless it generates the failures
	Listed []Listed // outages of single nodes, without outages of the file
	Begin  int64    // second at which simulations begin
	Last   int64    // second of the last submission of the job trace; zero if unknown
	// Date of second zero of the job trace, taken as UTC. The zero time means that the date is unknown, which is an
	// error for Slurm events.
	Start time.Time

	rows  []entry // outages of the file
	dated bool    // times of rows are in seconds since 1970
	// number of rows whose ends moved, see slurmFile.endAfter
	shifted int
	names   map[string]int // numbers of the nodes that rows name
	// Trace has the failures of rows in the simulated period, which rows no longer has
	fitted bool
}

// Read reads the file of failures.
func (o *Options) Read(fsys files.FS) (*Source, error) {
	s := &Source{Options: *o, Listed: o.Outages}
	if o.File == "" {
		return s, nil
	}
	text, err := readAll(fsys, o.File)
	if err != nil {
		return nil, err
	}
	format, err := formatOf(text, o.File)
	if err != nil {
		return nil, err
	}
	return s, s.parse(text, format)
}

// parse reads the text of the file.
func (s *Source) parse(text []byte, format string) (err error) {
	switch {
	case format == FaultTrace:
		return s.parseTrace(text)
	case s.FileNodes != 0 || s.FileDays != 0 || s.Options.Source == Replay:
		return fmt.Errorf("%s lists the outages of this cluster's nodes, but file_nodes, file_days and source = %q "+
			"are for fault traces of other clusters; remove these keys", s.File, Replay)
	case format == SlurmEvents:
		return s.parseSlurm(text)
	}
	var isName func(string) bool
	if len(s.Nodes) > 0 {
		if s.names, err = s.numbers(); err != nil {
			return err
		}
		isName = func(cell string) bool { return has(s.names, cell) }
	}
	s.rows, err = parseList(text, s.File, isName, hasNumber(s.names))
	return err
}

// hasNumber reports whether a name is also a number.
func hasNumber(names map[string]int) bool {
	for name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			return true
		}
	}
	return false
}

func has(names map[string]int, name string) bool { _, ok := names[name]; return ok }

func (s *Source) parseTrace(text []byte) (err error) {
	if len(s.Nodes) > 0 {
		return fmt.Errorf("%s is a fault trace, which is assigned to nodes at random, but failures.nodes is set; "+
			"remove it (--set failures.nodes=[])", s.File)
	}
	if s.Trace, err = Parse(text, s.File, s.reading()); err == nil && s.Options.Source == FromFit {
		s.Model = Fit(s.Trace)
	}
	return err
}

// parseSlurm reads Slurm events, and numbers their nodes.
func (s *Source) parseSlurm(text []byte) error {
	file, err := parseSlurm(text, s.File)
	if err != nil {
		return err
	}
	s.rows, s.dated, s.shifted = file.rows, true, file.shifted
	if len(s.Nodes) == 0 {
		s.names, err = numbered(file.nodes())
		return err
	}
	if s.names, err = s.numbers(); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.rows, func(e entry) bool { return has(s.names, e.name) }) {
		return fmt.Errorf("%s has no events of the nodes in failures.nodes, but of nodes such as %s; correct "+
			"failures.nodes", s.File, words.Some(file.nodes(), 3))
	}
	return nil
}

// String describes the failures in one line.
func (s *Source) String() string {
	var parts []string
	if s.Trace != nil {
		what := "faults of %s (%s of %s in %.1f days), assigned to nodes at random"
		if s.Model != nil {
			what = "faults drawn from a model fitted to %s (%s of %s in %.1f days)"
		}
		parts = append(parts, fmt.Sprintf(what, filepath.Base(s.File), words.Plural(s.Trace.Faults(), "fault"),
			words.Plural(s.Trace.Total, "node"), float64(s.Trace.Period)/secondsOfDay))
	}
	if s.fitted && len(s.rows) > 0 {
		parts = append(parts, words.Plural(len(s.rows), "drain")+" of the file")
	}
	if s.dated && !s.fitted {
		parts = append(parts, s.aboutEvents())
	}
	if list := s.listed(); len(list) > 0 || !s.dated && s.Trace == nil {
		parts = append(parts, s.aboutListed(list))
	}
	text := strings.Join(parts, ", and ")
	if s.shifted > 0 {
		text += "; " + ShiftedText(s.shifted)
	}
	return text
}

// listed returns the outages of the options and of a table of outages.
func (s *Source) listed() (list []entry) {
	if !s.dated && s.Trace == nil {
		list = slices.Clone(s.rows)
	}
	for _, l := range s.Listed {
		list = append(list, entry{Listed: l})
	}
	return list
}

// aboutListed counts listed outages, and the outages outside of the simulated period.
func (s *Source) aboutListed(list []entry) string {
	early, late := 0, 0
	for _, e := range list {
		switch {
		case s.Begin > 0 && e.end(Never) <= s.Begin:
			early++
		case s.Last > 0 && e.From > s.Last:
			late++
		}
	}
	var outside []string
	if early > 0 {
		outside = append(outside, fmt.Sprintf("%d ended before the simulated period", early))
	}
	if late > 0 {
		outside = append(outside, fmt.Sprintf("%d after the last submission of the trace", late))
	}
	text := words.Plural(len(list), "listed outage")
	if len(outside) > 0 {
		text += " (" + strings.Join(outside, ", ") + ")"
	}
	return text
}

// aboutEvents describes the Slurm events, and the events that do not count.
func (s *Source) aboutEvents() string {
	kept, nodes, drains := s.kept(), map[string]bool{}, 0
	all := len(kept)
	kept = slices.DeleteFunc(slices.Clone(kept), func(e entry) bool { return e.To > 0 && e.To <= s.Begin })
	for _, e := range kept {
		nodes[e.name] = true
		if e.Kind == UnannouncedDrain {
			drains++
		}
	}
	text := fmt.Sprintf("%s and %s of %s (Slurm events of %s)", words.Plural(len(kept)-drains, "failure"),
		words.Plural(drains, "unannounced drain"), words.Plural(len(nodes), "node"), filepath.Base(s.File))
	var others []string
	for _, e := range s.rows {
		if !has(s.names, e.name) && !slices.Contains(others, e.name) {
			others = append(others, e.name)
		}
	}
	if len(others) > 0 {
		text += ", without the events of other nodes (" + words.Some(others, 4) + ")"
	}
	if early := len(s.rows) - len(since(s.rows, s.Start.Unix())); early > 0 {
		text += fmt.Sprintf(", and without %s before second 0 of the trace", words.Plural(early, "event"))
	}
	if n := all - len(kept); n > 0 {
		text += fmt.Sprintf(", and without %s that ended before the simulated period", words.Plural(n, "event"))
	}
	late := func(e entry) bool { return s.Last > 0 && e.From > s.Last }
	if n := len(kept) - len(slices.DeleteFunc(slices.Clone(kept), late)); n > 0 {
		text += fmt.Sprintf("; %s after the last submission of the trace", words.Plural(n, "event"))
	}
	return text
}
