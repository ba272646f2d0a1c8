package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/decider"
	"graft/files"
	"graft/original/learn"
	"graft/results"
	"graft/results/document"
	"graft/simulation/evaluation"
	"graft/torch/weights"
)

// ReadSet reads a file of weights, and says what to do where that fails.
func ReadSet(fsys files.FS, path string) (*weights.Set, error) {
	set, err := weights.Read(fsys, path, weights.Options{})
	switch {
	case err == nil:
		return set, nil
	case errors.As(err, new(*fs.PathError)):
		return nil, fmt.Errorf("read policy: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("read policy: %w: it is cut short; copy the file again", err)
	}
	return nil, fmt.Errorf("read policy: %w; copy the file again", err)
}

// ReadStructuralFile reads one structural policy.
func ReadStructuralFile(fsys files.FS, path string) (*decider.Structural, error) {
	set, err := ReadSet(fsys, path)
	if err != nil {
		return nil, err
	}
	p, err := decider.StructuralOf(set)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w; give the file as 'graft learn' wrote it", path, err)
	}
	return p, nil
}

// SeedFiles are the policies of each seed in a run's folder, by number.
func SeedFiles(fsys files.FS, folder string) ([]string, error) {
	entries, err := fsys.ReadDir(filepath.Join(folder, SeedFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", folder, err)
	}
	seeds := map[string]uint64{}
	var paths []string
	for _, e := range entries {
		number, ours := strings.CutPrefix(strings.TrimSuffix(e.Name(), seedEnd), seedBegin)
		if n, err := strconv.ParseUint(number, 10, 64); err == nil && ours {
			path := filepath.Join(folder, SeedFolder, e.Name())
			seeds[path], paths = n, append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(seeds[a], seeds[b]) })
	return paths, nil
}

// SeedFile is the path of a seed's policy in the run folder.
func SeedFile(seed uint64) string {
	return filepath.Join(SeedFolder, fmt.Sprintf("%s%d%s", seedBegin, seed, seedEnd))
}

// PoliciesOutcome is what policies have learned, as outcome.json has it.
type PoliciesOutcome struct {
	Seeds   []SeedOutcome      `json:"seeds"`         // each by itself
	Steps   int                `json:"steps"`         // of all seeds
	Tables  []evaluation.Score `json:"tables"`        // on the vote of all seeds, in each table
	HeldOut []evaluation.Score `json:"held_out"`      // the same in tables that nothing was learned from; empty where there are none
	Regret  float64            `json:"regret_points"` // of the vote, the mean over the tables
	Summary evaluation.Summary `json:"summary"`       // of the seeds, each by itself, over the tables
	// Outside is the same over the tables that nothing was learned from; null where there
	// are none.
	Outside *evaluation.Summary `json:"held_out_summary"`
}

// SeedOutcome is what a seed has learned.
type SeedOutcome struct {
	Seed   uint64  `json:"seed"`                   // its number
	Steps  int     `json:"steps"`                  // that were taken
	Ended  string  `json:"ended"`                  // why
	Regret float64 `json:"regret_points"`          // of its likeliest sequences, the mean over the tables
	Out    float64 `json:"held_out_regret_points"` // the same over those that are held out; zero where there are none
	Policy string  `json:"policy"`                 // its file in the run folder
}

// MeanRegret is zero where there is nothing.
func MeanRegret(verdicts []evaluation.Score) float64 {
	sum := 0.0
	for _, v := range verdicts {
		sum += v.Regret
	}
	return sum / float64(max(1, len(verdicts)))
}

// LearnedRow is figures of a seed.
type LearnedRow struct {
	Seed    int64    `json:"seed"`
	Step    int64    `json:"step"`
	Aim     float64  `json:"aim"`
	Entropy float64  `json:"entropy_nats"`
	Regret  float64  `json:"regret_points"`
	HeldOut *float64 `json:"held_out"` // null where nothing is held out
}

// LearningFile is the table of figures of both kinds of learning.
const LearningFile = "learning.csv"

// PoliciesKind is runs in which structural policies learned from tables, one for each
// seed.
var PoliciesKind = &Kind{Name: "policies", Title: "run of policies", Titles: "runs of policies", fits: isRunOf(LearningFile, "learners"), read: readPoliciesRun,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning") }}

// PolicyKind is runs in which a policy of the original's learned from one table.
var PolicyKind = &Kind{Name: "policy", Title: "run of a policy", Titles: "runs of a policy", fits: isRunOf(LearningFile), read: readPolicyRun,
	series: func(r *Run) ([]Series, error) { return streamSeries(r, "learning", "episodes") }}

func readPoliciesRun(f *Folder, r *Run) error {
	o := &PoliciesOutcome{}
	if err := f.own(r, o); err != nil {
		return err
	}
	if r.Ended {
		r.Quantities = policiesQuantities(o)
		return nil
	}
	t, err := results.ReadStream(f.Fsys, f.At(LearningFile))
	if err != nil {
		return err
	}
	if r.Quantities, err = lastOfSeeds(t); err != nil {
		err = fmt.Errorf("%s: %w", LearningFile, err)
	}
	return err
}

func policiesQuantities(o *PoliciesOutcome) []quantity {
	regret := quantity{Name: "regret", Unit: document.UnitPoints, Aim: downward}
	outside := quantity{Name: "held_out_regret", Unit: document.UnitPoints, Aim: downward}
	steps := quantity{Name: "steps"}
	for _, s := range o.Seeds {
		for _, q := range []*quantity{&regret, &outside, &steps} {
			q.Seeds = append(q.Seeds, int64(s.Seed))
		}
		regret.Values, outside.Values, steps.Values = append(regret.Values, s.Regret), append(outside.Values, s.Out), append(steps.Values, float64(s.Steps))
	}
	list := []quantity{regret, seedless("vote_regret", document.UnitPoints, downward, o.Regret)}
	if o.Outside != nil {
		list = append(list, outside, seedless("vote_held_out_regret", document.UnitPoints, downward, MeanRegret(o.HeldOut)))
	}
	return finite(append(list, steps, seedless("tables", "", noAim, float64(len(o.Tables))))...)
}

// lastOfSeeds is where policies stand that have not ended.
func lastOfSeeds(t *results.Table) ([]quantity, error) {
	rows, err := LastRows(t)
	if err != nil {
		return nil, err
	}
	regret, steps, aim := quantity{Name: "regret", Unit: document.UnitPoints, Aim: downward}, quantity{Name: "steps"}, quantity{Name: "aim", Aim: upward}
	for _, row := range rows {
		for _, q := range []*quantity{&regret, &steps, &aim} {
			q.Seeds = append(q.Seeds, row.Seed)
		}
		regret.Values, steps.Values, aim.Values = append(regret.Values, row.Regret), append(steps.Values, float64(row.Step)), append(aim.Values, row.Aim)
	}
	return finite(regret, aim, steps), nil
}

// LastRows are the last figures of each seed, in the order in which seeds first told any.
func LastRows(t *results.Table) ([]LearnedRow, error) {
	columns := map[string][]float64{}
	for _, name := range []string{"seed", "step", "aim", "entropy", "held_out", "regret"} {
		var err error
		if columns[name], err = t.Floats(name); err != nil {
			return nil, err
		}
	}
	var list []LearnedRow
	place := map[int64]int{}
	for row, seed := range columns["seed"] {
		one := LearnedRow{Seed: int64(seed), Step: int64(columns["step"][row]), Aim: columns["aim"][row], Entropy: columns["entropy"][row], Regret: columns["regret"][row]}
		if v := columns["held_out"][row]; !math.IsNaN(v) {
			one.HeldOut = &v
		}
		k, known := place[one.Seed]
		if !known {
			place[one.Seed] = len(list)
			list = append(list, one)
			continue
		}
		list[k] = one
	}
	return list, nil
}

func readPolicyRun(f *Folder, r *Run) error {
	o := &learn.StudyOutcome{}
	if err := f.own(r, o); err != nil {
		return err
	}
	seed := int64(r.Manifest.Seed)
	if r.Ended {
		r.Quantities = policyQuantities(o, seed)
		return nil
	}
	t, err := results.ReadStreamTail(f.Fsys, f.At(LearningFile), 1)
	if err != nil || t.Rows == 0 {
		return err
	}
	last := func(name string) float64 {
		values, err := t.Floats(name)
		if err != nil {
			return math.NaN()
		}
		return values[0]
	}
	r.Quantities = finite(one("expected_accuracy", document.UnitShare, upward, seed, last("expected_accuracy")), one("objective", "", upward, seed, last("objective")),
		one("episodes", "", noAim, seed, last("episodes")))
	return nil
}

func policyQuantities(o *learn.StudyOutcome, seed int64) []quantity {
	return finite(
		one("accuracy", document.UnitShare, upward, seed, o.Accuracy),
		one("expected_accuracy", document.UnitShare, upward, seed, o.Expected),
		one("regret", document.UnitPoints, downward, seed, 100*(o.Most-o.Accuracy)),
		one("rank", "", downward, seed, float64(o.Rank)),
		one("sequences", "", noAim, seed, float64(o.Records)),
		one("episodes", "", noAim, seed, float64(o.Episodes)),
	)
}
