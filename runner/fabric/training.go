package fabric

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/fabric/graph"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/learn"
	"graft/original/ramp"
	"graft/runner/app"
	"graft/torch/weights"
)

// TrainingOptions holds the options for learning policies by PPO or Ape-X, with the settings of PAC-ML's authors.
type TrainingOptions struct {
	Method  string // learning method: ppo or ape-x; empty learns no policies
	Seeds   int    // number of policies per distribution of time limits; zero means 10
	Updates int    // number of updates per policy, each after 4,800 actions; zero means 15
	Resume  bool   // reuses policies in the folder
}

func (o *TrainingOptions) validate(out string) error {
	if o.Method == "" {
		return nil
	}
	o.Seeds, o.Updates = cmp.Or(o.Seeds, 10), cmp.Or(o.Updates, 15)
	var fault error
	switch {
	case !slices.Contains(ramp.Methods, o.Method):
		fault = fmt.Errorf("option \"learn\" is %q; expected %s", o.Method, strings.Join(ramp.Methods, " or "))
	case o.Seeds < 1 || o.Seeds > 1000:
		fault = fmt.Errorf("option \"seeds\" is %d; must be between 1 and 1000", o.Seeds)
	case o.Updates < 1 || o.Updates > 1_000_000:
		fault = fmt.Errorf("option \"updates\" is %d; must be between 1 and 1000000", o.Updates)
	case out == "":
		fault = errors.New("option \"learn\" requires option \"out\"; set option \"out\" to a folder for the policies")
	}
	return failure.With(failure.Usage, fault)
}

// training learns the policies of an experiment.
type training struct {
	TrainingOptions
	env      *app.Env
	out      string
	profiles []*graph.Profile
}

// policies learns the policies of each distribution of limits, each in its environment.
func (t *training) policies(ctx context.Context, limits []string, workers int) (all [][]*ramp.Policy, err error) {
	envs := make([]*ramp.Env, len(limits))
	for k, name := range limits {
		if envs[k], err = ramp.NewEnv(name, 0, t.profiles); err != nil {
			return nil, err
		}
		all = append(all, make([]*ramp.Policy, t.Seeds))
	}
	if err := t.vacant(limits); err != nil {
		return nil, err
	}
	return all, parallel.Pool{Workers: workers}.Each(ctx, len(limits)*t.Seeds, func(at int) error {
		k, seed := at/t.Seeds, at%t.Seeds
		net, err := t.policy(ctx, limits[k], envs[k].Another(), seed)
		if err != nil {
			return fmt.Errorf("learn with %s, time limits %s, seed %d: %w", t.Method, limits[k], seed+1, err)
		}
		all[k][seed] = envs[k].Policy(t.Method, net)
		return nil
	}).First()
}

// path returns the file of a policy, without its extension.
func (t *training) path(limits string, seed int) string {
	return filepath.Join(t.out, fmt.Sprintf("%s-%s-%d", t.Method, limits, seed+1))
}

// vacant returns an error if the folder has unwanted policies.
func (t *training) vacant(limits []string) error {
	if t.Resume {
		return nil
	}
	for _, name := range limits {
		for seed := range t.Seeds {
			path := t.path(name, seed) + ".safetensors"
			if _, err := t.env.Files.Stat(path); err == nil {
				return failure.With(failure.Usage,
					fmt.Errorf("%s already exists; rerun the command with option \"resume\", or choose another "+
						"folder", path))
			}
		}
	}
	return nil
}

// policy learns a policy, or reads the one in the folder.
func (t *training) policy(ctx context.Context, limits string, env *ramp.Env, seed int) (*learn.GraphNet, error) {
	path := t.path(limits, seed)
	if net, err := t.read(path+".safetensors", env); net != nil || err != nil {
		return net, err
	}
	var curve []ramp.TrainingPoint
	net, err := ramp.Learn(ctx, t.Method, env, uint64(seed)+1, t.Updates, func(p ramp.TrainingPoint) error {
		curve = append(curve, p)
		return files.WriteAtomic(t.env.Files, path+".csv", func(w io.Writer) error { return writeCurve(w, curve) })
	})
	if err != nil {
		return nil, err
	}
	set := &weights.Set{Format: weights.Safetensors, Metadata: map[string]string{"updates": strconv.Itoa(t.Updates)}}
	learn.SaveParams(net, set, "")
	return net, weights.Write(t.env.Files, path+".safetensors", set)
}

// read reads a policy that learned from the same number of updates; nil if there is none.
func (t *training) read(path string, env *ramp.Env) (*learn.GraphNet, error) {
	if _, err := t.env.Files.Stat(path); err != nil {
		return nil, nil
	}
	set, err := weights.Read(t.env.Files, path, weights.Options{})
	if err != nil {
		return nil, err
	}
	if had := set.Metadata["updates"]; had != strconv.Itoa(t.Updates) {
		return nil, failure.With(failure.Usage, fmt.Errorf("%s was trained for %s updates, but option \"updates\" is "+
			"%d; set option \"updates\" to %s, or choose another folder", path, had, t.Updates, had))
	}
	net, err := env.NewPolicy()
	if err == nil {
		err = learn.RestoreParams(net, set, "")
	}
	if err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("%s: %w", path, err))
	}
	return net, nil
}

func writeCurve(w io.Writer, curve []ramp.TrainingPoint) error {
	if _, err := fmt.Fprintln(w, "actions,reward"); err != nil {
		return err
	}
	for _, p := range curve {
		reward := ""
		if !math.IsNaN(p.Reward) {
			reward = strconv.FormatFloat(p.Reward, 'g', -1, 64)
		}
		if _, err := fmt.Fprintf(w, "%d,%s\n", p.Actions, reward); err != nil {
			return err
		}
	}
	return nil
}
