package trial

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// prelude computes the inputs of hostile operators: tensors of several types and ranks, empty tensors, and numbers that
// are not valid indices.
var prelude = strings.Split(`e2 = zeros.default(size=[0, 3])
e4 = zeros.default(size=[2, 0, 8, 8])
e1 = zeros.default(size=[0])
one = ones.default(size=[])
index = arange.default(end=6)
negative = full.default(size=[2, 3], fill_value=-7, dtype=int64)
large = full.default(size=[4], fill_value=9223372036854775807, dtype=int64)
truth = ones.default(size=[2, 3], dtype=bool)
f3 = ones.default(size=[2, 3, 8])
f4 = ones.default(size=[2, 3, 8, 8])
f5 = ones.default(size=[1, 2, 4, 4, 4])
d = to.dtype(self=%x, dtype=float64)
h = to.dtype(self=%f4, dtype=float16)
infinite = full.default(size=[3, 3], fill_value=inf)`, "\n")

var readable = strings.Fields("%x %x %e2 %e4 %e1 %one %index %index %negative %large %truth %f3 %f4 %f4 %f5 %d %h " +
	"%infinite @square @square @kernel @vector")

var tensors = []graph.Tensor{{Name: "square", Role: graph.Parameter, DType: weights.Float32, Shape: []int{3, 3}},
	{Name: "kernel", Role: graph.Parameter, DType: weights.Float32, Shape: []int{4, 3, 3, 3}},
	{Name: "vector", Role: graph.Parameter, DType: weights.Float32, Shape: []int{3}}}

// hostile returns the network of the prelude and a line, and an attempt to run it.
func hostile(line string) (*graph.Graph, graph.Attempt, error) {
	g := &graph.Graph{Name: "Net", Input: graph.Input{Value: "x", DType: weights.Float32,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}}, Modules: []graph.Module{{Class: "Net"}}, Tensors: tensors}
	a := graph.Attempt{Shape: []int{2, 3}, Values: []float64{1, 2, 3, 4, 5, 6}, Weights: &weights.Set{},
		Gradients: true}
	for _, text := range append(prelude[:len(prelude):len(prelude)], line) {
		n, err := graph.ParseNode(text)
		if err != nil {
			return nil, a, err
		}
		g.Nodes = append(g.Nodes, n)
		g.Output = n.Results[0]
	}
	for _, t := range tensors {
		w := weights.Tensor{Name: t.Name, DType: t.DType, Data: make([]byte, 4*t.Count())}
		for _, size := range t.Shape {
			w.Shape = append(w.Shape, int64(size))
		}
		a.Weights.Tensors = append(a.Weights.Tensors, w)
	}
	return g, a, g.Check()
}

// signature holds an operator and its arguments.
type signature struct {
	operator  string
	arguments []parameter
}

type parameter struct {
	name, kind string
	optional   bool
}

var (
	called    = regexp.MustCompile(`^(\w+)(?:\.(\w+))?\((.*)\)$`)
	described = regexp.MustCompile(`(\w+(?:\[\d*\])?\??(?:\[\])?)\s(\w+)(=[^,\[\]]*(?:\[[^\]]*\])?)?(?:, |$)`)
)

// signatures reads the operators that a network may call.
func signatures(t *testing.T) (all []signature) {
	text, err := os.ReadFile("testdata/schemas.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		parts := called.FindStringSubmatch(strings.TrimSpace(line))
		require.NotNil(t, parts, line)
		s := signature{operator: parts[1] + "." + parts[2]}
		if parts[2] == "" {
			s.operator += "default"
		}
		for _, found := range described.FindAllStringSubmatch(parts[3], -1) {
			s.arguments = append(s.arguments, parameter{found[2], found[1], found[3] != ""})
		}
		require.True(t, torch.KnowsOperator(s.operator) || torch.PassesOperator(s.operator), line)
		all = append(all, s)
	}
	return all
}

// line returns a call of the operator with random arguments.
func (s signature) line(random *rand.Rand) string {
	var args []string
	for _, p := range s.arguments {
		if p.optional && random.IntN(2) == 0 {
			continue
		}
		if value := p.value(random); value != "" {
			args = append(args, p.name+"="+value)
		}
	}
	line := "y = " + s.operator + "(" + strings.Join(args, ", ") + ")"
	if torch.PassesOperator(s.operator) {
		line += " -> [batch, 3]"
	}
	return line
}

func (p parameter) value(random *rand.Rand) string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	kind, list := p.kind, false
	if base, _, found := strings.Cut(kind, "["); found {
		kind, list = base, true
	}
	kind = strings.TrimSuffix(kind, "?")
	one := func() string {
		switch kind {
		case "Tensor":
			return pick(readable...)
		case "int":
			return pick("0", "1", "1", "2", "2", "3", "4", "7", "8", "64", "1000", "-1", "-2", "-7", "2147483647",
				"-2147483648")
		case "float":
			return pick("0.0", "0.5", "1.0", "-1.0", "1e30", "-1e300", "1e-300", "3.0")
		case "bool":
			return pick("true", "false")
		case "Scalar":
			return pick("0", "1", "-1", "2", "2147483647", "0.5", "-3.5", "1e30", "true")
		case "ScalarType":
			return pick("float32", "float64", "int64", "bool", "float16", "uint8")
		case "str":
			return pick(`"none"`, `"tanh"`, `"reflect"`, `"constant"`, `"circular"`, `"same"`, `"valid"`, `"ij,jk->ik"`,
				`"..."`, `""`, `"floor"`)
		}
		return "" // a device or a layout, which networks do not set
	}
	if value := one(); !list || value == "" {
		return value
	}
	items := make([]string, []int{0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 9}[random.IntN(13)])
	same, alike := one(), random.IntN(2) == 0
	for k := range items {
		if items[k] = one(); alike {
			items[k] = same
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// asHostile makes the test binary run many lines, one after the other.
const asHostile = "GRAFT_TEST_AS_HOSTILE"

// serveLines runs each input line and writes whether it computed something.
func serveLines(in io.Reader, out io.Writer) error {
	if err := torch.Load(); err != nil {
		return err
	}
	if err := (Limits{Memory: 1 << 30, Time: time.Hour}).impose(files.OS{}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		g, a, err := hostile(lines.Text())
		if err == nil {
			_, err = g.Try(a)
		}
		if _, err := fmt.Fprintln(out, err == nil); err != nil {
			return err
		}
	}
	return lines.Err()
}

// survey runs lines until one ends the process or takes too long. It returns how many lines ran, and how many computed
// something.
func survey(t *testing.T, lines []string) (ran, computed int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), asHostile+"=1", "GOTRACEBACK=none")
	c.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	answers := bufio.NewScanner(out)
	const patience = 30 * time.Second
	slow := time.AfterFunc(patience, cancel)
	for answers.Scan() {
		slow.Reset(patience)
		ok, err := strconv.ParseBool(answers.Text())
		if err != nil {
			continue // a warning from LibTorch
		}
		ran++
		if ok {
			computed++
		}
	}
	slow.Stop()
	_ = c.Wait()
	return ran, computed
}

// Any operator that a network may call computes something or returns an error if its arguments do not fit. An operator
// that ends the trial process is named.
func TestHostileOperatorsEndInErrors(t *testing.T) {
	all, count := signatures(t), 600
	if os.Getenv("GRAFT_LONG") != "" {
		count = 40_000
	}
	var lines []string
	for k := range count {
		lines = append(lines, all[k*7919%len(all)].line(rand.New(rand.NewPCG(1, uint64(k)))))
	}
	sum, ended := 0, 0
	for at := 0; at < len(lines); at++ {
		ran, computed := survey(t, lines[at:])
		at, sum = at+ran, sum+computed
		if at == len(lines) {
			break
		}
		g, a, err := hostile(lines[at])
		require.NoError(t, err, lines[at])
		_, err = Run(t.Context(), files.OS{}, g, a, Limits{Memory: 1 << 30, Time: 10 * time.Second})
		if found := new(Ended); errors.As(err, &found) {
			ended++
			require.Contains(t, found.Operator, g.Nodes[len(g.Nodes)-1].Operator, lines[at])
		}
		t.Logf("%s: %v", lines[at], err)
	}
	t.Logf("measured: of %d operators with arguments at random %d computed something and %d ended the process "+
		"of their trial", count, sum, ended)
}
