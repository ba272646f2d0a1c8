package evaluation

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/stat"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/simulation/treetest"
)

// candidate returns a candidate with these policies.
func candidate(name string, policies ...Policy) Candidate {
	return Candidate{Name: name, Role: RolePolicy, Policies: policies}
}

// noisy returns a tree whose four sequences each ran with two seeds that are 2 points apart. The better seed
// alternates, so a mean has a variance of 4/3: half of 8 squares over 3 degrees of freedom.
func noisy(t *testing.T, name string, means ...float64) *simulation.Tree {
	var lists [][]float64
	for k, m := range means {
		better := 2*float64(k%2) - 1
		lists = append(lists, []float64{m + better, m - better})
	}
	return treetest.FromAccuracies(t, name, lists...)
}

// A difference is inside the noise if the choice of tables or the noise can explain it.
func TestDifferencesInsideTheNoise(t *testing.T) {
	trees := []*simulation.Tree{noisy(t, "a", 60, 64, 63, 50), noisy(t, "b", 60, 65, 63.5, 49),
		noisy(t, "c", 61, 64, 63, 52)}
	near := named{name: "near", choose: func(t *simulation.Tree) ([]float64, error) { return only(t, 2), nil }}
	both := named{name: "both", choose: func(t *simulation.Tree) ([]float64, error) { return only(t, 1), nil }}
	c, err := Compare(trees, []Candidate{candidate("best", Oracle()), candidate("both", both), candidate("near", near),
		candidate("never", Constant("never", tables.None)), candidate("draws", Uniform())}, "best")
	require.NoError(t, err)
	require.Nil(t, c.Standing("best").Difference)
	require.Nil(t, c.Standing("nobody"))
	noise := math.Sqrt(3*2*4/3.0) / 3 // a mean of three differences between two sequences each
	for name, want := range map[string]Difference{
		"both":  {Mean: 0, Noise: 0, Inside: true},
		"near":  {Mean: 3.5 / 3, Noise: noise, Inside: true},
		"never": {Mean: (14 + 16 + 12) / 3.0, Noise: noise},
	} {
		got := c.Standing(name).Difference
		require.InDelta(t, want.Mean, got.Mean, 1e-9, name)
		require.InDelta(t, want.Noise, got.Noise, 1e-9, name)
		require.Equal(t, want.Inside, got.Inside, name)
		require.True(t, got.OverTables.Low <= got.Mean+1e-9 && got.Mean <= got.OverTables.High+1e-9)
	}
	// A policy that draws is less noisy than one sequence.
	require.InDelta(t, math.Sqrt(3*(0.75*0.75+3*0.0625)*4/3)/3, c.Standing("draws").Difference.Noise, 1e-9)
	require.InDelta(t, c.Floor, (c.Tables[0].Floor+c.Tables[1].Floor+c.Tables[2].Floor)/3, 1e-12)

	alone, err := Compare(trees[:1], []Candidate{candidate("best", Oracle()), candidate("near", near),
		candidate("never", Constant("never", tables.None))}, "best")
	require.NoError(t, err)
	require.True(t, alone.Standing("near").Difference.Inside)
	require.False(t, alone.Standing("never").Difference.Inside)
	require.Nil(t, alone.Standing("near").OverTables)
	unknown, err := Compare([]*simulation.Tree{treetest.FromAccuracies(t, "a", []float64{1}, []float64{2}, []float64{3},
		[]float64{90})}, []Candidate{candidate("best", Oracle()), candidate("first", both)}, "best")
	require.NoError(t, err)
	require.Equal(t, NoiseUnknown, unknown.Tables[0].Source)
	require.True(t, unknown.Standing("first").Difference.Inside, "without noise one table tells nothing")
	_, err = Compare(nil, nil, "best")
	require.ErrorContains(t, err, "got 0 tables")
}

// Several seeds form one standing: the mean over seeds, and how far the seeds differ.
func TestSeedsAreOneLine(t *testing.T) {
	trees := []*simulation.Tree{noisy(t, "a", 60, 64, 62, 50), noisy(t, "b", 60, 64, 62, 50)}
	c, err := Compare(trees, []Candidate{candidate("policy", Oracle(), Constant("", "deepen:0"), Oracle(), Constant("",
		"deepen:0")), candidate("two", Oracle(), Constant("", "deepen:0")), candidate("one", Oracle())}, "one")
	require.NoError(t, err)
	s := c.Standing("policy")
	require.InDelta(t, 2, s.Regret, 1e-9)
	require.Equal(t, []any{4, 2, "a", 1.0, 4}, []any{s.Seeds, s.Tables, s.WorstOne, s.TopFive, s.LowHalf})
	require.InDelta(t, 4, s.Worst, 1e-9)
	require.Zero(t, s.OverSeeds.Low, "the whole interval begins at -1.67")
	require.InDelta(t, 2+3.182446305*2.309401077/2, s.OverSeeds.High, 1e-6)
	require.Nil(t, c.Standing("two").OverSeeds, "too few seeds")
	require.Nil(t, c.Standing("one").OverSeeds)
	require.InDelta(t, 2, s.OverTables.High-0, 1e-9, "both tables are alike")
	v := c.Tables[0].Scores[0]
	require.False(t, v.Certain)
	require.InDelta(t, 0.62, v.Accuracy, 1e-9)
	require.InDelta(t, 2, v.Rank, 1e-9, "of the first and the third")
}

// Tables need not offer the same actions. A candidate that cannot choose on one table is not compared over all tables.
func TestRivalsOfUnequalTables(t *testing.T) {
	a := treetest.FromAccuracies(t, "a", []float64{60}, []float64{64}, []float64{61}, []float64{50})
	b := treetest.Random(t, "b", 3, rand.New(rand.NewPCG(5, 7)), 0)
	candidates, err := BaselineCandidates([]*simulation.Tree{a, b}, SeenThese)
	require.NoError(t, err)
	var names []string
	for _, e := range candidates {
		names = append(names, e.Name)
	}
	require.Equal(t, []string{"never", "random", "always deepen:0", "always deepen:2", "one step ahead", "best fixed",
		"best fixed, smoothed", "optimum"}, names)
	require.Equal(t, SeenThis, candidates[4].Seen)
	c, err := Compare([]*simulation.Tree{a, b}, candidates, "optimum")
	require.NoError(t, err)
	require.Equal(t, 1, c.Standing("always deepen:2").Tables)
	require.Nil(t, c.Standing("always deepen:2").Difference)
	require.NotNil(t, c.Standing("always deepen:0").Difference)
	require.Len(t, c.Tables[0].Scores, 7)
	_, err = BaselineCandidates(nil, "")
	require.ErrorContains(t, err, "got no tables")
}

// Tables of one group may be similar, so the interval over groups is wider than the interval over tables.
func TestIntervalsOverGroups(t *testing.T) {
	g, alone := newGroups(), newGroups()
	for k, name := range []string{"a", "a", "a", "a", "b", "b", "b", "b"} {
		g.add(TableScores{Group: name}, float64(k/4))
		alone.add(TableScores{Group: string(rune('a' + k))}, float64(k/4))
	}
	tables, groups := g.intervals()
	require.Equal(t, &stat.Interval{Mean: 0.5, Low: 0, High: 1}, groups)
	require.True(t, 0 < tables.Low && tables.High < 1)
	_, groups = alone.intervals()
	require.Nil(t, groups)
}

// Noise is summed in a fixed order, so the same table gives the same bits.
func TestNoiseHasTheSameBits(t *testing.T) {
	tree := treetest.Random(t, "a", 4, rand.New(rand.NewPCG(5, 7)), 0)
	for k := range tree.Records {
		tree.Records[k].Accuracy[0] = math.Mod(0.137*float64(k*k+1), 1)
	}
	first, _ := Noise(tree.Table)
	for range 50 {
		again, _ := Noise(tree.Table)
		require.Equal(t, math.Float64bits(first), math.Float64bits(again))
	}
	require.Equal(t, EstimateNoise(tree.Table, 0), EstimateNoise(tree.Table, 1))
	require.InDelta(t, first/2, EstimateNoise(tree.Table, 0.5).Noise, 1e-12)
}

func twoSeeds(by By) LeaveOutOptions {
	o := quick()
	o.Steps = 5
	return LeaveOutOptions{By: by, Ways: []Way{{Options: []learning.Options{o}}}, Seeds: []uint64{4, 7}, AtOnce: 2}
}

// Each table is evaluated once, by policies and baselines that learned from the other groups.
func TestCompareLeftOut(t *testing.T) {
	trees := treetest.RandomTrees(t, 4)
	trees[3].Network = "another"
	for name, by := range map[string]By{"scenario": ByScenario(trees), "network": ByNetwork} {
		t.Run(name, func(t *testing.T) {
			o := twoSeeds(by)
			var told []LeaveOutProgress
			o.Tell = func(p LeaveOutProgress) { told = append(told, p) }
			r, err := CompareLeftOut(context.Background(), trees, o)
			require.NoError(t, err)
			require.Len(t, r.Tables, 4)
			for _, g := range r.Groups {
				require.Len(t, append(slices.Clone(g.Tables), g.Learned...), 4)
				for _, table := range g.Tables {
					require.NotContains(t, g.Learned, table)
				}
			}
			require.Len(t, told, len(r.Groups))
			require.Equal(t, 2*len(r.Groups), told[len(told)-1].Policies)
			require.Equal(t, told[0].OfThem, told[len(told)-1].Policies)
			require.Equal(t, "best fixed", r.Against)
			require.Equal(t, SeenOthers, r.Standing("best fixed").Seen)
			require.NotNil(t, r.Standing("policies, voting").Difference)
			require.Equal(t, name == "network", r.Standing("policies, voting").OverGroups != nil)
			if name == "scenario" {
				learned, err := learning.Learn(context.Background(), trees[1:], nil, o.Ways[0].Options[0], o.Seeds, 1)
				require.NoError(t, err)
				fixed, err := BestFixed("fixed", trees[1:], false)
				require.NoError(t, err)
				want, err := Evaluate(trees[:1], Structural("a", learned[0]), Structural("b", learned[1]), fixed)
				require.NoError(t, err)
				got, ok := r.Mean("policies, each seed", "tree 0")
				require.True(t, ok)
				require.InDelta(t, (want[0].Regret+want[1].Regret)/2, got, 1e-9)
				got, _ = r.Mean("best fixed", "tree 0")
				require.InDelta(t, want[2].Regret, got, 1e-9)
			}
			_, ok := r.Mean("nobody", r.Tables[0].Group)
			require.False(t, ok)
		})
	}
}

// Held-out tables are left out together, and differences are relative to the baselines in Against.
func TestHeldOutTogether(t *testing.T) {
	trees := treetest.RandomTrees(t, 4)
	o := twoSeeds(ByHeld(trees[2:]))
	o.Against = []string{nameSmoothed}
	r, err := CompareLeftOut(context.Background(), trees, o)
	require.NoError(t, err)
	require.Len(t, r.Groups, 1)
	require.Equal(t, []string{"tree 0", "tree 1"}, r.Groups[0].Learned)
	require.Equal(t, []string{"tree 2", "tree 3"}, r.Groups[0].Tables)
	require.Nil(t, r.Standing(nameSmoothed).Difference)
	require.Empty(t, r.Contrasts, "a single baseline")
	d := r.Standing(nameNever).Difference
	require.InDelta(t, r.Standing(nameNever).Regret-r.Standing(nameSmoothed).Regret, d.Mean, 1e-12)
	require.Equal(t, TTest, d.Test)
	require.Greater(t, d.Chance, significance)

	o.Against = []string{nameSmoothed, nameNever, nameRandom}
	r, err = CompareLeftOut(context.Background(), trees, o)
	require.NoError(t, err)
	policies := slices.DeleteFunc(slices.Clone(r.Standings), func(s Standing) bool { return s.Role == RoleBaseline })
	require.Len(t, r.Contrasts, len(o.Against)*len(policies))
	for k, c := range r.Contrasts {
		of, base := r.Standing(c.Policy), r.Standing(c.Baseline)
		require.Equal(t, policies[k/len(o.Against)].Policy, c.Policy)
		require.Equal(t, o.Against[k%len(o.Against)], c.Baseline)
		require.InDelta(t, of.Regret-base.Regret, c.Difference.Mean, 1e-12)
		require.GreaterOrEqual(t, *c.Holm, c.Difference.Chance)
	}

	o.By = ByHeld(trees)
	_, err = CompareLeftOut(context.Background(), trees, o)
	require.ErrorContains(t, err, "add tables")
	o.Against = []string{"fate", "fate"}
	_, err = CompareLeftOut(context.Background(), trees, o)
	require.ErrorContains(t, err, `"against" is "fate"; expected one of: best fixed;`)
	require.ErrorContains(t, err, `"against" has "fate" twice`)
	o.Against = []string{nameNever, nameLinear}
	_, err = CompareLeftOut(context.Background(), trees, o)
	require.ErrorContains(t, err, "baseline linear model is not available")
	require.ErrorContains(t, LeaveOutOptions{Against: []string{nameGradient}}.available([]*simulation.Tree{
		curved(t, "a", "deepen:0", [2]float64{0.5, 0.1}, []float64{0.5, 0.7, 0.8, 0.4}, make([]float64, 6))}), "gains")
}

// Tuning selects among several options on the training tables alone. With Together = 1, there is no vote.
func TestCompareLeftOutTunes(t *testing.T) {
	o := twoSeeds(nil)
	idle, quick := o.Ways[0].Options[0], o.Ways[0].Options[0]
	idle.Steps, idle.Rate, quick.Steps = 1, 1e-9, 40
	o.Ways = []Way{{Name: "tuned", Options: []learning.Options{idle, quick}}}
	o.Together = 1
	o.Seeds = []uint64{1, 2}
	trees := treetest.RandomTrees(t, 4)
	r, err := CompareLeftOut(context.Background(), trees, o)
	require.NoError(t, err)
	for k, g := range r.Groups {
		best, _, err := Tune(context.Background(), slices.Delete(slices.Clone(trees), k, k+1), o.Ways[0].Options,
			o.Seeds[:1], 1)
		require.NoError(t, err)
		require.Equal(t, []int{best}, g.Tuned)
	}
	require.Nil(t, r.Standing("tuned, voting"))
	require.Equal(t, 2, r.Standing("tuned, each seed").Seeds)
}

func TestCompareLeftOutStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := twoSeeds(nil)
	o.Tell = func(LeaveOutProgress) { cancel() }
	_, err := CompareLeftOut(ctx, treetest.RandomTrees(t, 3), o)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "leave tree 1 out")
}

func TestWhatCannotBeLeftOut(t *testing.T) {
	trees := treetest.RandomTrees(t, 2)
	_, err := CompareLeftOut(context.Background(), trees[:1], twoSeeds(nil))
	require.ErrorContains(t, err, "add tables")
	bad := twoSeeds(nil)
	bad.Seeds, bad.AtOnce, bad.Ways = []uint64{3, 3}, -1,
		append(bad.Ways, Way{}, Way{Name: "x", Options: []learning.Options{{Steps: -1}}})
	_, err = CompareLeftOut(context.Background(), trees, bad)
	for _, says := range []string{"duplicate seed 3", "AtOnce is -1", "policies: got no options", "duplicate " +
		"learning method",
		"steps is -1"} {
		require.ErrorContains(t, err, says)
	}
	var o LeaveOutOptions
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.Equal(t, []int{10, 10, 1, 1}, []int{len(o.Seeds), o.Together, o.AtOnce, len(o.Ways)})
}

// A policy that did not learn the actions of a table is refused.
func TestPoliciesOfOtherKinds(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	p, err := decider.NewStructural(decider.StructuralShape{}, decider.Scale{}, decider.Scale{}, 1)
	require.NoError(t, err)
	p.Learned = []net2net.Kind{"branch", "widen"}
	_, err = Evaluate([]*simulation.Tree{tree}, Structural("mine", p))
	require.ErrorContains(t, err, "evaluate policy mine on table tree 0: the policy was trained on the "+
		"action kinds branch and widen, but the table offers deepen; use a policy")
	p.Learned = []net2net.Kind{"deepen", "widen"}
	steps, err := Steps(tree, Structural("mine", p))
	require.NoError(t, err)
	require.Len(t, steps, 2)
	require.Equal(t, tree.Actions, steps[0].Actions)
	require.Equal(t, 90.0, steps[0].Left)
	steps, err = Steps(tree, Uniform())
	require.NoError(t, err)
	require.Empty(t, steps)
	p.Members[0][0][0] = math.NaN()
	_, err = Evaluate([]*simulation.Tree{tree}, Structural("mine", p))
	require.ErrorContains(t, err, "not a number")
}

// A table under two names is refused, because policies would learn from it while it is left out.
func TestLeaveOutNoticesATableUnderTwoNames(t *testing.T) {
	trees := treetest.RandomTrees(t, 3)
	table, again := *trees[0].Table, *trees[0]
	table.Name = "copy of tree 0"
	again.Table = &table
	_, err := CompareLeftOut(context.Background(), append(trees, &again), twoSeeds(nil))
	require.ErrorContains(t, err, "tables tree 0 and copy of tree 0 share at least half of their runs; keep the larger")

	records := slices.Clone(trees[0].Records) // in another order, with a further seed and without times of steps
	slices.Reverse(records)
	records[0].Seeds, records[0].Accuracy = []int64{1, 9}, []float64{records[0].Accuracy[0], 0.5}
	longer, err := tables.New(trees[0].Scenario, records)
	require.NoError(t, err)
	longer.Name = "longer"
	other, err := simulation.NewTree(longer, simulation.TreeOptions{})
	require.NoError(t, err)
	_, err = CompareLeftOut(context.Background(), append(trees, other), twoSeeds(nil))
	require.ErrorContains(t, err, "tables tree 0 and longer share at least half of their runs; keep the larger")
}

// A policy whose inputs lie outside of the range of its training tables is named with its decisions there.
func TestDecisionsOutsideOfTheRange(t *testing.T) {
	trees := treetest.RandomTrees(t, 4)
	o := learning.NewTransferOptions()
	o.Method, o.Trees = learning.Forest, 3
	learned, err := learning.Learn(context.Background(), trees[:2], nil, o, []uint64{1, 2}, 1)
	require.NoError(t, err)
	candidates := append(SeedCandidates("mine", nil, learned, ""), candidate("best", Oracle()))
	for k := range trees[3].Nodes {
		if n := &trees[3].Nodes[k]; len(n.Prefix) == 1 {
			n.Left = 3 * n.Budget
		}
	}
	c, err := Compare(trees[2:], candidates, "best")
	require.NoError(t, err)
	require.Empty(t, c.Tables[0].Outside)
	require.Len(t, c.Tables[1].Outside, 1)
	got := c.Tables[1].Outside[0]
	require.Equal(t, []any{"mine, each seed", 2, 4}, []any{got.Policy, got.Decisions, got.Of})
	require.Contains(t, got.Inputs, "left")
}

// Two tables with the same sign exclude zero from the bootstrap interval in half of all cases, so a test decides too.
func TestDifferencesOverFewTables(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		noise  float64
		known  bool
		want   bool
		by     Test
	}{
		"one table":                    {[]float64{2}, 0.5, true, false, SignFlipTest},
		"two tables":                   {[]float64{2, 3}, 0, true, false, TTest},
		"two equal, no noise":          {[]float64{2, 2}, 0, true, false, SignFlipTest},
		"two equal, unknown noise":     {[]float64{2, 2}, 0, false, false, SignFlipTest},
		"equal up to rounding":         {[]float64{2, 2, 2.1 - 0.1}, 0, false, false, SignFlipTest},
		"five equal, some noise":       {[]float64{2, 2, 2, 2, 2}, 0.1, false, false, SignFlipTest},
		"six equal, unknown noise":     {[]float64{2, 2, 2, 2, 2, 2}, 0, false, true, SignFlipTest},
		"nearly equal, unknown noise":  {[]float64{2, 2.001}, 0, false, true, TTest},
		"two equal, noise":             {[]float64{2, 2}, 0.5, true, false, TTest},
		"two nearly equal, noise":      {[]float64{2, 2.001}, 0.5, true, false, TTest},
		"two nearly equal, some noise": {[]float64{2, 2.001}, 0.5, false, false, TTest},
		"four equal, noise":            {[]float64{2, 2, 2, 2}, 0.5, true, true, TTest},
		"no difference":                {[]float64{0, 0}, 0, true, false, SignFlipTest},
		"no difference, noise":         {[]float64{0, 0}, 0.5, true, false, TTest},
		"three clear tables":           {[]float64{14, 16, 12}, 0.5, true, true, TTest},
		"three unclear tables":         {[]float64{1, 9, 4}, 0.5, true, false, TTest},
		"six tables, same sign":        {[]float64{1, 9, 4, 2, 3, 1}, 0.5, true, true, SignFlipTest},
	} {
		p, by := testOver(c.values, c.noise, c.known)
		require.Equal(t, c.want, p <= significance, name)
		require.Equal(t, c.by, by, name)
	}
	trees := []*simulation.Tree{noisy(t, "a", 60, 64, 63, 30), noisy(t, "b", 60, 65, 63.5, 39)}
	c, err := Compare(trees, []Candidate{candidate("best", Oracle()),
		candidate("never", Constant("never", tables.None))}, "best")
	require.NoError(t, err)
	d := c.Standing("never").Difference
	require.Greater(t, d.OverTables.Low, 0.0)
	require.Greater(t, d.Mean, d.NoiseLimit())
	require.True(t, d.Inside)
	require.True(t, d.OnlyUntested())
}

// Tables of one scenario with other names and seeds are left out together, and are in the same part of a
// cross-validation. Tables that do not identify their data have only names.
func TestTablesOfOneScenarioAreOneGroup(t *testing.T) {
	trees := treetest.RandomTrees(t, 5)
	names := func(by By) (list []string) {
		for _, t := range trees {
			list = append(list, by(t))
		}
		return list
	}
	require.Equal(t, []string{"tree 0", "tree 1", "tree 2", "tree 3", "tree 4"}, names(ByScenario(trees)))
	for _, k := range []int{0, 2, 3} {
		trees[k].Origin = &tables.Origin{Form: []byte("{}"), Data: "0123456789"}
	}
	trees[3].Budget++
	require.Equal(t, []string{"tree 0", "tree 1", "tree 0", "tree 3", "tree 4"}, names(ByScenario(trees)))
	require.Equal(t, []string{"1", "2", "1", "3", "4"}, names(byPart(trees)))
	trees[4].Name = "tree 2" // equal names are one scenario, too
	require.Equal(t, []string{"tree 0", "tree 1", "tree 0", "tree 3", "tree 0"}, names(ByScenario(trees)))
	trees[4].Name = "tree 3"
	trees[3].Budget--
	require.Equal(t, []string{"tree 0", "tree 1", "tree 0", "tree 0", "tree 0"}, names(ByScenario(trees)))
}
