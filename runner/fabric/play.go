package fabric

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/original/ramp"
	"graft/runner/app"
)

// PlayOptions selects a recorded episode to simulate.
type PlayOptions struct {
	Episode string // path of the episode; required
	Graphs  string // path of the folder with the episode's graphs; required
	Out     string // path of the folder for the results; empty means that they are not written
}

// PlayReport is the result of an episode.
type PlayReport struct {
	Agent     string `json:"agent"`     // name of the agent that decided; replay if the episode contains its actions
	Arrived   int    `json:"arrived"`   // number of jobs that arrived
	Completed int    `json:"completed"` // number of jobs that completed
	Blocked   int    `json:"blocked"`   // number of jobs that were blocked
	Running   int    `json:"running"`   // number of jobs running at the end
	Queued    int    `json:"queued"`    // number of jobs queued at the end
	// statistics, named as in the published simulator; jobs that still run at the end of the episode count as blocked
	Statistics map[string]any `json:"statistics"`
	Folder     string         `json:"folder"` // path of the results; empty if none were written
}

// Play simulates a recorded episode of the simulator of RAMP and PAC-ML, including the simulator's bugs, and writes
// jobs.csv.
func Play(ctx context.Context, env *app.Env, o PlayOptions) (*PlayReport, error) {
	episode, err := readEpisode(env.Files, o.Episode)
	if err != nil {
		return nil, err
	}
	profiles, err := readGraphs(env.Files, o.Graphs, episode.FileOrder)
	if err != nil {
		return nil, err
	}
	world, err := play(ctx, episode, profiles)
	if err != nil {
		return nil, fmt.Errorf("replay episode %s: %w", o.Episode, err)
	}
	r := report(episode, world)
	if o.Out == "" {
		return r, nil
	}
	r.Folder = o.Out
	if err := env.Files.MkdirAll(o.Out); err != nil {
		return nil, fmt.Errorf("write the episode's jobs: %w", err)
	}
	return r, files.WriteAtomic(env.Files, filepath.Join(o.Out, "jobs.csv"),
		func(w io.Writer) error { return writeJobs(w, world) })
}

func readEpisode(fsys files.FS, path string) (*ramp.Episode, error) {
	if path == "" {
		return nil, failure.With(failure.Usage, errors.New(
			"option \"episode\" is missing; expected an episode file"))
	}
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read an episode: %w", err)
	}
	defer file.Close()
	episode, err := ramp.ReadEpisode(file)
	if err != nil {
		return nil, failure.With(failure.Configuration, fmt.Errorf("%s: %w", path, err))
	}
	return episode, nil
}

func readGraphs(fsys files.FS, folder string, names []string) (profiles []*graph.Profile, err error) {
	if folder == "" {
		return nil, failure.With(failure.Usage, errors.New("option \"graphs\" is missing; expected a folder of graphs"))
	}
	for _, name := range names {
		path := filepath.Join(folder, name)
		file, err := fsys.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read a graph of the episode: %w", err)
		}
		p, err := graph.ReadPipeDream(bufio.NewReader(file), strings.TrimSuffix(name, filepath.Ext(name)), path)
		file.Close()
		if err != nil {
			return nil, failure.With(failure.Damaged, err)
		}
		profiles = append(profiles, p)
	}
	return profiles, nil
}

func play(ctx context.Context, episode *ramp.Episode, profiles []*graph.Profile) (*fabric.World, error) {
	world, decider, err := episode.World(profiles)
	if err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	return world, fabric.Play(ctx, world, decider)
}

func report(episode *ramp.Episode, world *fabric.World) *PlayReport {
	r := &PlayReport{Agent: episode.Agent, Statistics: ramp.Statistics(world)}
	if episode.Actions != nil {
		r.Agent = "replay"
	}
	for name, value := range r.Statistics {
		if v, ok := value.(float64); ok && (math.IsInf(v, 0) || math.IsNaN(v)) {
			r.Statistics[name] = nil
		}
	}
	for k := range world.Jobs {
		switch world.Jobs[k].Status {
		case fabric.Absent:
			continue
		case fabric.Queued:
			r.Queued++
		case fabric.Running:
			r.Running++
		case fabric.Completed:
			r.Completed++
		case fabric.Blocked:
			r.Blocked++
		}
		r.Arrived++
	}
	return r
}

// writeJobs writes a row per arrived job. Times are in seconds; missing starts and ends are empty.
func writeJobs(w io.Writer, world *fabric.World) error {
	if _, err := fmt.Fprintln(w, "job_idx,model,status,cause,degree,arrival,start,end"); err != nil {
		return err
	}
	for k := range world.Jobs {
		j := &world.Jobs[k]
		if j.Status == fabric.Absent {
			continue
		}
		row := []string{
			strconv.Itoa(j.ID), world.Study().Models[j.Model].Name, j.Status.String(), j.Cause.String(),
			strconv.Itoa(j.Degree),
			number(j.Arrival), number(j.Started), number(j.Ended),
		}
		if _, err := fmt.Fprintln(w, strings.Join(row, ",")); err != nil {
			return err
		}
	}
	return nil
}

// number formats a number so that it reads back as the same; NaN is empty.
func number(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
