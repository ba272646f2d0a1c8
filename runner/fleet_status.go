package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/fleet"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// newFleetStatusCommand is `graft fleet status`.
func newFleetStatusCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Say how a simulation and its workers are",
		Long: `status says how many sequences have ended, which legs are under way and by whom, what
is best so far, how long it will take, and how each worker is. It disturbs nobody:
somebody may be looking after the workers. Where the engine cannot be asked the rest
is printed, and the code is 3.`,
		Example: `  graft fleet status runs/late
  graft fleet status runs/late --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runFleetStatus(command.Context(), command.OutOrStdout(), args[0], asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// fleetStatus is what `graft fleet status --json` prints.
type fleetStatus struct {
	Folder    string              `json:"folder"`            // of the simulation's run
	Cache     string              `json:"cache"`             // folder that keeps what was run
	Engine    string              `json:"engine"`            // of the workers
	Batch     string              `json:"batch"`             // its name; empty where no workers were started from here
	Cancelled bool                `json:"cancelled"`         // by somebody
	Workers   []fleet.WorkerState `json:"workers"`           // by number
	Trouble   string              `json:"trouble,omitempty"` // why the engine could not be asked
	State     grid.Progress       `json:"state"`             // how far the sequences have come
	Left      int                 `json:"sequences_left"`    // neither ended nor failed
	Legs      []runningLeg        `json:"legs_running"`      // parts of runs that workers have taken
	ToGo      float64             `json:"seconds_to_go"`     // with the workers that run; zero where that is not known
}

// runningLeg is a leg that somebody has taken.
type runningLeg struct {
	Sequence []string `json:"sequence"` // actions so far
	Seed     int64    `json:"seed"`     // of the run
	Owner    string   `json:"owner"`    // who has it
	Dead     bool     `json:"dead"`     // the owner has died on this machine, and somebody will take it over
}

func runFleetStatus(ctx context.Context, w io.Writer, folder string, asJSON bool) error {
	s, f, err := openBoth(folder)
	if err != nil {
		return err
	}
	r, err := s.status(ctx, f)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(w, r)
	} else {
		err = r.print(w)
	}
	if err == nil && r.Trouble != "" {
		err = withCode(exitPartial, errors.New(r.Trouble))
	}
	return err
}

// status looks at the simulation, and at its workers where there are any.
func (s *site) status(ctx context.Context, f *fleet.Fleet) (*fleetStatus, error) {
	r := &fleetStatus{Folder: s.folder, Cache: s.cache(), Engine: s.Fleet.Engine, Workers: []fleet.WorkerState{}, Legs: []runningLeg{}}
	g, err := s.grid()
	if err != nil {
		return nil, err
	}
	if r.State, err = g.Progress(); err != nil {
		return nil, err
	}
	r.Left = r.State.Sequences - r.State.Ended - r.State.Failed
	if r.Legs, err = legsUnderWay(g, r.Cache); err != nil {
		return nil, err
	}
	if f != nil {
		r.addWorkers(ctx, f)
	}
	running := len(slices.DeleteFunc(slices.Clone(r.Legs), func(l runningLeg) bool { return l.Dead }))
	if running > 0 {
		r.ToGo = r.State.Ahead / float64(running)
	}
	return r, nil
}

// legsUnderWay finds the legs under way among the leases of the cache, which other
// simulations may have as well.
func legsUnderWay(g *grid.Grid, cache string) ([]runningLeg, error) {
	ready, err := g.Ready()
	if err != nil {
		return nil, err
	}
	holders, err := holdersIn(filepath.Join(cache, leasesFolder))
	if err != nil {
		return nil, err
	}
	legs := []runningLeg{}
	for _, leg := range ready {
		if h, ok := holders[g.Key(leg)]; ok {
			legs = append(legs, runningLeg{leg.Sequence, leg.Seed, h.Owner, h.Dead})
		}
	}
	slices.SortStableFunc(legs, func(a, b runningLeg) int { return cmp.Compare(a.Owner, b.Owner) })
	return legs, nil
}

// holdersIn are who holds the leases of a folder, by task. Without the folder nobody
// does.
func holdersIn(dir string) (map[string]fleet.Holder, error) {
	if _, err := (files.OS{}).Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	leases, err := fleet.OpenLeases(files.OS{}, dir, fleet.LeaseOptions{Clock: fleet.NewClock(time.Now), Host: fleet.ThisHost(files.OS{}), Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	list, err := leases.Holders()
	held := map[string]fleet.Holder{}
	for _, h := range list {
		held[h.Task] = h
	}
	return held, errors.Join(err, leases.Close())
}

func (r *fleetStatus) addWorkers(ctx context.Context, f *fleet.Fleet) {
	r.Engine, r.Batch, r.Cancelled = f.Engine(), f.Batch().Key, f.Cancelled()
	states, err := f.Workers(ctx)
	if err != nil {
		r.Trouble = err.Error()
		return
	}
	r.Workers = states
}

func (r *fleetStatus) print(w io.Writer) error {
	if _, err := io.WriteString(w, r.headline()); err != nil {
		return err
	}
	if err := r.printLegs(w); err != nil {
		return err
	}
	return r.printWorkers(w)
}

// headline is the simulation in a few lines.
func (r *fleetStatus) headline() string {
	s := r.State
	text := fmt.Sprintf("%d of %d runs ended, %d failed, %d left; %d of %d legs", s.Ended, s.Sequences, s.Failed, r.Left, s.Done, s.Legs)
	if r.ToGo > 0 {
		text += fmt.Sprintf("; %s to go", spanText(time.Duration(r.ToGo*float64(time.Second))))
	}
	if len(s.Best) > 0 {
		text += fmt.Sprintf("\nbest so far %s: %s", tables.Sequence(s.Best[0].Sequence), accuracyText(s.Best[0].Accuracy))
	}
	return text + "\n"
}

func (r *fleetStatus) printLegs(w io.Writer) error {
	if len(r.Legs) == 0 {
		return nil
	}
	t := newTable("under way", ">seed", "by")
	for _, l := range r.Legs {
		if l.Dead {
			l.Owner += ", which has died"
		}
		t.add(fmt.Sprint(tables.Sequence(l.Sequence)), fmt.Sprint(l.Seed), l.Owner)
	}
	return afterBlank(w, t)
}

func (r *fleetStatus) printWorkers(w io.Writer) error {
	if r.Batch == "" {
		_, err := fmt.Fprintln(w, "\nno workers were started from here")
		return err
	}
	t := newTable(">worker", "state", "host", "detail", "log")
	for _, s := range r.Workers {
		detail := s.Detail
		if s.Exit != 0 {
			detail = strings.TrimPrefix(fmt.Sprintf("%s, exit code %d", detail, s.Exit), ", ")
		}
		t.add(fmt.Sprint(s.Worker), string(s.State), cmp.Or(s.Host, "-"), cmp.Or(detail, "-"), s.Log)
	}
	about := "batch " + r.Batch + " of " + r.Engine
	if r.Cancelled {
		about += ", which was cancelled"
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", about); err != nil || len(r.Workers) == 0 {
		return err
	}
	return t.print(w)
}

// afterBlank prints a table below an empty line.
func afterBlank(w io.Writer, t *table) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.print(w)
}
