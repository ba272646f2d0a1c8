package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"graft/config"
	"graft/dataset"
	"graft/internal/coprocess"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/listen"
	"graft/model"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

func placement(s *torch.Scope, device torch.Device, seed int64) model.Placement {
	return model.Placement{Device: device, Random: s.NewGenerator(torch.CPU, seed)}
}

// FirstNetwork creates a job's network with its initial weights. The weights come from network.weights; if this key is
// empty, they are drawn from a seed.
func FirstNetwork(fsys files.FS, s *torch.Scope, c *config.Job, data *dataset.Set, device torch.Device,
	seed int64) (*model.Network, error) {
	n, err := c.Model(data.Facts())
	if err != nil {
		return nil, err
	}
	if err := trainer.Matches(n, data); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	if err := c.Fits(n); err != nil { // detect it now rather than at an up hours later
		return nil, failure.With(failure.Configuration, err)
	}
	if err := n.Materialize(s, placement(s, device, seed)); err != nil {
		return nil, err
	}
	if err := loadFirst(fsys, n, c, data, seed); err != nil {
		return nil, err
	}
	return n, nil
}

// loadFirst loads the initial weights from a file, or only the tensors without a defined initialization.
func loadFirst(fsys files.FS, n *model.Network, c *config.Job, data *dataset.Set, seed int64) error {
	first, constants := c.InitialWeightsOf(seed).Weights, c.ConstantsOf(seed)
	path := cmp.Or(first, constants)
	if path == "" || constants != "" && n.Graph == nil {
		return nil
	}
	set, err := app.ReadWeights(fsys, path)
	if err != nil {
		return err
	}
	if constants != "" {
		err = n.LoadUndrawn(set)
	} else {
		err = n.Load(set)
	}
	if err != nil {
		return mismatched(fsys, path, err)
	}
	if first == "" {
		return nil
	}
	if err := errors.Join(n.CanTrain(set), sameOrder(app.ImagesOf(n, set).Classes, data.Classes)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// sameOrder returns an error if the outputs of trained weights are the classes of the data in another order. Weights
// for other classes, or without a record of their classes, may be trained on.
func sameOrder(outputs, classes []string) error {
	if slices.Equal(outputs, classes) || !slices.Equal(slices.Sorted(slices.Values(outputs)),
		slices.Sorted(slices.Values(classes))) {
		return nil
	}
	k := 0
	for outputs[k] == classes[k] {
		k++
	}
	return failure.With(failure.Configuration, fmt.Errorf("the weights have the classes of the data in another order: "+
		"output %d is %q in the weights and %q in the data; use data or weights with the same order, or, to train the "+
		"outputs again, convert the weights to .pth, which drops the names of their classes", k, outputs[k],
		classes[k]))
}

// mismatched returns an error for weights that do not match the network. It names the network file in the same folder,
// if there is one.
func mismatched(fsys files.FS, path string, err error) error {
	own := filepath.Join(filepath.Dir(path), app.NetworkFile)
	if _, missing := fsys.Stat(own); missing == nil {
		return fmt.Errorf("%s: %w; %s in the same folder may be the right network; set network.file to it", path, err,
			own)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Check returns an error if the initial weights do not match the names and shapes of the network's parameters, the
// token is unusable, run.fork has another job, or the decider's program does not respond. It reads no images and does
// not open LibTorch.
func Check(ctx context.Context, env *app.Env, c *config.Job) error {
	return errors.Join(checkToken(env, c.Train.Parallel.Token), checkWeights(env, c),
		CheckFork(env.FileDigests(), c, c.Run.Seed), TryProgram(ctx, c))
}

// CannotListen lists warnings about the addresses on which a job will listen, if this machine cannot listen on them
// now, or if the job starts only with an option of the command line.
func CannotListen(ctx context.Context, c *config.Job) (warnings []string) {
	p := c.Train.Parallel
	for key, address := range map[string]string{"run.listen": c.Run.Listen, "parallel.listen": p.Listen} {
		if _, slurm := p.Slurm(); address == "" || slurm && key == "parallel.listen" {
			continue
		}
		if err := listen.Try(ctx, address); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: the job cannot start on this machine now: %v; choose another "+
				"address or port", key, err))
		}
		if host, _, _ := net.SplitHostPort(address); key == "run.listen" && !listen.IsLoopback(host) {
			warnings = append(warnings, fmt.Sprintf("%s: other machines can reach %s, so the job starts only with the "+
				"option --listen-anywhere; use 127.0.0.1, or add this option", key, address))
		}
	}
	slices.Sort(warnings)
	return warnings
}

// TryProgram starts the decider's program, if there is one, and negotiates the protocol with it.
func TryProgram(ctx context.Context, c *config.Job) error {
	if !c.Adapt.IsProgram() {
		return nil
	}
	if err := coprocess.Try(ctx, coprocess.Options{Path: c.Adapt.Decider}, "decider", nil); err != nil {
		return failure.With(failure.Configuration, fmt.Errorf("adapt.decider: %w", err))
	}
	return nil
}

// checkToken reads the followers' token, if a file holds it.
func checkToken(env *app.Env, path string) error {
	if path == "" {
		return nil
	}
	token, err := readToken(env, path)
	if err == nil {
		err = team.CheckToken(token)
	}
	if err != nil {
		return fmt.Errorf("parallel.token_file: %w", err)
	}
	return nil
}

func checkWeights(env *app.Env, c *config.Job) error { return CheckWeights(env, c, c.Run.Seed) }

// CheckWeights returns an error if the initial weights for a seed do not match the names and shapes of the network's
// parameters, or have the classes of the data in another order.
func CheckWeights(env *app.Env, c *config.Job, seed int64) error {
	first := c.InitialWeightsOf(seed).Weights
	if first == "" {
		return nil
	}
	n, err := c.Declared(env.Files)
	if err != nil {
		return err
	}
	set, err := app.ReadWeights(env.Files, first)
	if err != nil {
		return fmt.Errorf("network.weights: %w", err)
	}
	if err := n.Fits(set); err != nil {
		return fmt.Errorf("network.weights: %w", mismatched(env.Files, first, err))
	}
	labels := dataset.Declared(env.Files, c.Data).Labels
	if err := errors.Join(n.CanTrain(set), sameOrder(app.ImagesOf(n, set).Classes, labels)); err != nil {
		return fmt.Errorf("network.weights: %s: %w", first, err)
	}
	return nil
}

// GivenWeights evaluates initial weights from a file before the clock starts. It returns nil if the initial weights are
// random.
func GivenWeights(c *config.Job, n *model.Network, data *dataset.Set) (*trainer.Pretrained, error) {
	b := c.InitialWeights()
	if b.Weights == "" {
		return nil, nil
	}
	score, err := trainer.EvaluatePretrained(n, data, c.Options())
	if err != nil {
		return nil, err
	}
	return &trainer.Pretrained{Epochs: b.Epochs, Score: score}, nil
}

// begin makes the initial network of a new job.
func (j *job) begin(parts *trainer.Parts, device torch.Device) (err error) {
	if parts.Network, err = FirstNetwork(j.env.Files, j.scope, j.Job, parts.Data, device, j.Run.Seed); err != nil {
		return err
	}
	if parts.Pretrained, err = GivenWeights(j.Job, parts.Network, parts.Data); err != nil || parts.Pretrained == nil {
		return err
	}
	b, accuracy := j.InitialWeights(), parts.Pretrained.Score.Accuracy
	j.given = &runs.GivenReport{Weights: b.Weights, Epochs: b.Epochs, Start: j.Time.Start, Accuracy: accuracy,
		Published: b.Accuracy}
	j.env.Log.Info("evaluated the initial weights", zap.Int("epochs", b.Epochs),
		zap.Float64("validation", app.Rounded(accuracy)), zap.Float64p("published", b.Accuracy))
	return nil
}

// covered returns an error if the profile lacks the cost of work that is known before the start.
func (j *job) covered(data *dataset.Set) error {
	profile, err := j.Profile()
	if err != nil || profile == nil {
		return err
	}
	n, err := j.Model(data.Facts())
	if err != nil {
		return err
	}
	return failure.With(failure.Configuration, j.CoveredBy(profile, n))
}
