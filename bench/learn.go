package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"graft/original/learn"
	"graft/torch"
)

// Episodes in a burst. PyTorch's are so slow that fewer give an equally good time.
const (
	learnOurs = 500
	learnTwin = 20
)

// lesson is a generated table for both sides: all 64 sequences of three decisions about a network with three blocks
// that can be deepened.
type lesson struct {
	Seed      int64             `json:"seed"`
	Width     int               `json:"width"` // length of a vector of the embedding
	Embedding []float32         `json:"embedding"`
	States    []learn.TreeState `json:"states"`
	Accuracy  []float64         `json:"accuracy"`
	Actions   int               `json:"actions"`
}

// depths counts how often each block of a network has been deepened.
type depths [3]int

// tokens returns the tokens of ConvNet2's layers: two convolutions and a linear layer.
func (d depths) tokens() []int32 {
	list := []int32{1, 2, 3}
	list = append(list, slices.Repeat([]int32{8, 2, 3}, d[0])...)
	list = append(list, 5, 4, 2, 3)
	list = append(list, slices.Repeat([]int32{8, 2, 3}, d[1])...)
	list = append(list, 6, 7, 3)
	return append(list, slices.Repeat([]int32{9, 3}, d[2])...)
}

func newLesson(seed int64) *lesson {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	l := &lesson{Seed: seed, Width: 16, Actions: 4}
	for range 18 * l.Width {
		l.Embedding = append(l.Embedding, float32(r.NormFloat64()))
	}
	const decisions = 3
	grown := []depths{{}}
	for k, depth, behind := 0, 1, 0; k < len(grown); k++ {
		s := learn.TreeState{Tokens: grown[k].tokens(), Left: 340 - 11*float64(depth) - r.Float64(), Budget: 400}
		for a := range l.Actions {
			if depth == decisions {
				s.Children = append(s.Children, int32(-1-len(l.Accuracy)))
				l.Accuracy = append(l.Accuracy, 0.55+0.2*r.Float64())
				continue
			}
			next := grown[k]
			if a < len(next) {
				next[a]++
			}
			s.Children = append(s.Children, int32(len(grown)))
			grown = append(grown, next)
		}
		l.States = append(l.States, s)
		if k == behind { // last state at this depth
			depth, behind = depth+1, len(grown)-1
		}
	}
	return l
}

func (l *lesson) learner(s *torch.Scope, rule string) (*learn.Learner, error) {
	tree := &learn.Tree{States: l.States, Accuracy: l.Accuracy, Actions: l.Actions}
	o := learn.Options{Rule: rule, Episodes: math.MaxInt32}
	return learn.NewLearner(s, tree, learn.Embedding{Width: l.Width, Values: l.Embedding}, learn.PolicyOptions{},
		o, l.Seed)
}

func writeLesson(folder string, seed int64) error {
	text, err := json.Marshal(newLesson(seed))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "lesson.json"), text, 0o644)
}

// learn times a number of episodes, or exact steps, of an untrained policy.
func (k *worker) learn(c command) (answer, error) {
	var a answer
	return a, torch.With(func(s *torch.Scope) error {
		l, err := newLesson(k.seed).learner(s, c.How)
		if err != nil {
			return err
		}
		began := time.Now()
		learned, err := l.Learn(c.Iterations)
		a = answer{Seconds: time.Since(began).Seconds(), Losses: learned.Objectives}
		return err
	})
}

// learning compares the original's loop in graft and in PyTorch, and an exact step with an episode.
func (b *bench) learning() error {
	if err := writeLesson(b.folder, b.seed); err != nil {
		return err
	}
	fmt.Println("\nlearning: episodes of three decisions, 21 states, 54,980 parameters, 1 thread; exact: " +
		"a step along the gradient over all 64 sequences")
	defer b.table.Flush()
	var m, exact measured
	err := b.repeated(ours[0], b.twins()[0], 1, func(us, twin *side, rounds int) error {
		episodes := burst{us, command{Cmd: "learn", How: learn.Reinforce, Iterations: learnOurs}, learnOurs}
		theirs := burst{twin, command{Cmd: "learn", How: learn.Reinforce, Iterations: learnTwin}, learnTwin}
		steps := burst{us, command{Cmd: "learn", How: learn.Exact, Iterations: learnOurs / 2}, learnOurs / 2}
		return errors.Join(m.pairs([2]burst{episodes, theirs}, rounds), exact.pairs([2]burst{episodes, steps}, rounds))
	})
	if err != nil {
		fmt.Fprintf(b.table, "skipped: %s\n", firstLine(err))
		return nil
	}
	fmt.Fprintln(b.table, "what\tratio\t\tgraft\tother\tobjectives")
	fmt.Fprintf(b.table, "episodes a second against PyTorch\t%s\t%.0f\t%.0f\t%s\n", m.ratio(), 1/median(m.ours),
		1/median(m.twin), m.agreement())
	fmt.Fprintf(b.table, "exact steps in episodes\t%s\t%.0f us\t%.0f us\t\n", exact.ratio(), 1e6*median(exact.twin),
		1e6*median(exact.ours))
	return nil
}
