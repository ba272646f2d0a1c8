package plot

import (
	"fmt"
	"graft/config"
	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/runs"
	"graft/results"
	"graft/tracing"
	"graft/trainer"
	"path/filepath"
	"strings"
)

// plotNetworks draws a job's initial and largest network. It repeats the job's actions, without weights.
func plotNetworks(r *runs.Run) ([]drawing, error) {
	notes, err := jobNotes(r)
	if err != nil {
		return nil, err
	}
	actions := actionsOfLargest(notes)
	if len(actions) == 0 {
		return nil, nil
	}
	saved, err := trainer.SavedNetwork(r.Files, r.Path)
	if err != nil || saved == nil {
		return nil, err
	}
	job, err := config.ReadJob(r.Files, filepath.Join(r.Path, runs.ResolvedFile), nil)
	if err != nil {
		return nil, fmt.Errorf("rebuild the job's initial network from the files named in the job: %w; run 'graft "+
			"plot' in the folder in which the job was started", err)
	}
	var before *model.Network
	if job.Program.On() {
		before, err = config.ReadNetwork(r.Files, filepath.Join(r.Path, runs.InitialFile))
	} else {
		before, err = initialNetwork(r.Files, job, saved)
	}
	if err != nil {
		return nil, err
	}
	after, words := before.Sketch(), []string(nil)
	var changes []*net2net.Change
	for _, text := range actions {
		action, err := net2net.ParseAction(text)
		if err != nil {
			return nil, err
		}
		change, err := net2net.Apply(after, action, job.Options().Adapt.Surgery)
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", text, err)
		}
		changes, words = append(changes, change), append(words, actionWords(text))
	}
	s, err := SurgeryFigure(before, after, changes, strings.Join(words, ", "))
	if err != nil {
		return nil, err
	}
	return []drawing{{Figure: s}}, nil
}

// actionsOfLargest lists the actions that led to a job's largest network. A down reverts all actions since the last up
// that no down has reverted.
func actionsOfLargest(notes []trainer.Note) (actions []string) {
	var now []string
	var levels []int
	most := 0
	for _, n := range notes {
		switch {
		case n.Event == results.EventUp:
			levels = append(levels, len(now))
		case n.Event == results.EventDecision && n.Action != "" && n.Action != "none":
			now = append(now, n.Action)
		case n.Event == results.EventDown && len(levels) > 0:
			now, levels = now[:levels[len(levels)-1]], levels[:len(levels)-1]
			continue // the note has the parameters of the larger network
		}
		if len(now) > 0 && n.Parameters >= most {
			most, actions = n.Parameters, append([]string(nil), now...)
		}
	}
	return actions
}

// initialNetwork builds a job's initial network, with the input and classes of a saved one.
func initialNetwork(fsys files.FS, job *config.Job, saved *model.Network) (*model.Network, error) {
	if saved.Graph != nil {
		return initialGraph(fsys, job, saved)
	}
	trace, err := tracing.Read(saved)
	if err != nil {
		return nil, err
	}
	last := trace.Layers[len(trace.Layers)-1]
	return job.Model(dataset.Facts{Shape: saved.Input, Classes: last.Out.Shape[0]})
}

// SurgeryFigure creates a figure of a network before and after surgery, side by side. The argument changes is required
// only for networks that are graphs of operators.
func SurgeryFigure(before, after *model.Network, changes []*net2net.Change, actions string) (*figure.Surgery, error) {
	s := &figure.Surgery{Title: "The network before and after " + actions, Note: "After " + actions + "."}
	if before.Graph != nil {
		s.Note += " Only modules with parameters are shown."
	}
	first, err := layersOf(before)
	if err != nil {
		return nil, err
	}
	second, err := layersOf(after)
	if err != nil {
		return nil, err
	}
	s.Before = figure.Network{Name: "before: " + before.Name(),
		Detail: document.Thousands(before.Parameters()) + " parameters"}
	s.After = figure.Network{Name: "after: " + after.Name(),
		Detail: document.Thousands(after.Parameters()) + " parameters"}
	match := alignLayers(first, second)
	if after.Graph != nil {
		match = matchGraphs(first, second, originsOf(changes))
	}
	for k, l := range first {
		s.Before.Layers = append(s.Before.Layers, figure.Layer{Key: fmt.Sprint(k), Name: l.words, Block: l.block})
	}
	for k, l := range second {
		drawn := figure.Layer{Key: fmt.Sprint("new ", k), Name: l.words, Block: l.block}
		if was := match[k]; was >= 0 {
			drawn.Key, drawn.Wider = fmt.Sprint(was), first[was].words != l.words
		}
		s.After.Layers = append(s.After.Layers, drawn)
	}
	return s, nil
}

// drawnLayer holds the texts of a layer in a drawing.
type drawnLayer struct{ path, kind, words, block string }

// layersOf lists a network's layers in running order.
func layersOf(n *model.Network) ([]drawnLayer, error) {
	if n.Graph != nil {
		return graphLayers(n), nil
	}
	trace, err := tracing.Read(n)
	if err != nil {
		return nil, err
	}
	var all []drawnLayer
	for _, l := range trace.Layers {
		kind, _, _ := strings.Cut(l.Leaf.Layer.String(), "(")
		all = append(all, drawnLayer{l.At.Path, kind, layerWords(kind, l), blockOf(trace, l)})
	}
	return all, nil
}

// similarity scores whether two layers are the same layer before and after surgery, which may change paths and sizes.
func similarity(a, b drawnLayer) int {
	switch {
	case a.kind != b.kind:
		return 0
	case a.path == b.path && a.words == b.words:
		return 4
	case a.words == b.words:
		return 3
	case a.path == b.path:
		return 2
	case strings.HasPrefix(b.path, a.path+"."): // it is in a container now
		return 1
	}
	return 0
}

// alignLayers matches the layers after surgery to layers before it, in order and with the largest total similarity; -1
// marks a new layer. Among equal layers the first matches, because a new layer follows the layer that it extends.
func alignLayers(before, after []drawnLayer) []int {
	best := make([][]int, len(before)+1) // of the remainder from each position
	for i := range best {
		best[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if l := similarity(before[i], after[j]); l > 0 {
				best[i][j] = max(best[i][j], best[i+1][j+1]+l)
			}
		}
	}
	match := make([]int, len(after))
	i := 0
	for j := range after {
		match[j] = -1
		for i < len(before) && best[i][j] == best[i+1][j] && best[i][j] > 0 {
			i++ // the layer was removed
		}
		if i < len(before) {
			if l := similarity(before[i], after[j]); l > 0 && best[i][j] == best[i+1][j+1]+l {
				match[j], i = i, i+1
			}
		}
	}
	return match
}

// layerWords describes a layer and its size briefly.
func layerWords(kind string, l *tracing.Layer) string {
	switch layer := l.Leaf.Layer.(type) {
	case model.Conv2d:
		return fmt.Sprintf("Conv2d %d to %d, %d×%d", layer.In, layer.Out, layer.Kernel.H, layer.Kernel.W)
	case model.Linear:
		return fmt.Sprintf("Linear %d to %d", layer.In, layer.Out)
	}
	return kind + " " + strings.ReplaceAll(l.Out.Shape.String(), "x", "×")
}

// blockOf returns the name of a layer's block; empty outside of blocks.
func blockOf(t *tracing.Trace, l *tracing.Layer) string {
	for _, b := range t.Blocks {
		for _, other := range b.Layers {
			if other == l {
				return b.Name
			}
		}
	}
	return ""
}
