package control

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/trainer"
)

// series are the values of an exposition by metric and labels, such as a{b="c"}.
type series map[string]float64

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*`)
	unitNames  = regexp.MustCompile(`_(seconds|nats|ratio|total|info|epoch|step|steps|rate|devices|parameters|layers|changes|state)$`)
)

// parseExposition reads the text format of Prometheus, version 0.0.4, strictly: each
// metric has a line of help and one of its type, in this order and before its samples,
// which stand together; nothing is there twice; counters end in _total.
func parseExposition(text string) (series, error) {
	p := &exposed{found: series{}, kinds: map[string]string{}}
	if !strings.HasSuffix(text, "\n") {
		return nil, errors.New("the last line has no end")
	}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %q: %w", n+1, line, err)
		}
	}
	if p.empty {
		return nil, fmt.Errorf("%s has no sample", p.name)
	}
	return p.found, nil
}

type exposed struct {
	found series
	kinds map[string]string
	name  string // of the metric under way
	empty bool   // it has no sample yet
}

func (p *exposed) line(line string) error {
	if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
		return p.help(rest)
	}
	if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
		return p.kind(rest)
	}
	return p.sample(line)
}

func (p *exposed) help(rest string) error {
	name, text, ok := strings.Cut(rest, " ")
	_, known := p.kinds[name]
	switch {
	case metricName.FindString(name) != name || name == "":
		return errors.New("a bad name")
	case known:
		return errors.New("its help is there twice")
	case p.empty:
		return fmt.Errorf("%s has no sample", p.name)
	case !ok || text == "" || !strings.HasSuffix(text, "."):
		return errors.New("the help is no sentence")
	}
	if _, err := unescaped(text, `\n`); err != nil {
		return err
	}
	p.name, p.empty, p.kinds[name] = name, true, ""
	return nil
}

func (p *exposed) kind(rest string) error {
	name, kind, _ := strings.Cut(rest, " ")
	switch {
	case name != p.name || p.kinds[name] != "" || !p.empty:
		return errors.New("the type does not follow the help")
	case kind != "counter" && kind != "gauge":
		return errors.New("an unknown type")
	case (kind == "counter") != strings.HasSuffix(name, "_total"):
		return errors.New("counters, and only they, end in _total")
	case !unitNames.MatchString(name):
		return errors.New("the name has no unit")
	}
	p.kinds[name] = kind
	return nil
}

func (p *exposed) sample(line string) error {
	name := metricName.FindString(line)
	if name == "" || name != p.name || p.kinds[name] == "" {
		return errors.New("a sample of no metric, or away from its others")
	}
	labels, rest, err := p.labels(line[len(name):])
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(rest, " ")
	value, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || strings.ContainsAny(text, "xX_pP ") {
		return fmt.Errorf("%q is no value", rest)
	}
	if p.kinds[name] == "counter" && !(value >= 0) {
		return errors.New("a counter below zero")
	}
	if _, twice := p.found[name+labels]; twice {
		return errors.New("it is there twice")
	}
	p.found[name+labels], p.empty = value, false
	return nil
}

// labels reads what stands in braces, and gives it back with its escapes undone.
func (p *exposed) labels(text string) (labels, rest string, err error) {
	if !strings.HasPrefix(text, "{") {
		return "", text, nil
	}
	text = text[1:]
	seen := map[string]bool{}
	for {
		name := labelName.FindString(text)
		value, after, ok := quoted(strings.TrimPrefix(text[len(name):], "="))
		if name == "" || strings.HasPrefix(name, "__") || seen[name] || text[len(name)] != '=' || !ok {
			return "", "", fmt.Errorf("a bad label at %q", text)
		}
		plain, err := unescaped(value, `\n"`)
		if err != nil {
			return "", "", err
		}
		seen[name] = true
		labels += "," + name + "=" + plain
		if rest, ok := strings.CutPrefix(after, "}"); ok {
			return "{" + labels[1:] + "}", rest, nil
		}
		if text, ok = strings.CutPrefix(after, ","); !ok {
			return "", "", fmt.Errorf("no end of the labels at %q", after)
		}
	}
}

// quoted reads a text in quotes, with its escapes.
func quoted(text string) (inside, after string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	for k := 1; k < len(text); k++ {
		switch text[k] {
		case '\\':
			k++
		case '"':
			return text[1:k], text[k+1:], true
		}
	}
	return "", "", false
}

// unescaped undoes escapes, of which there are \\ and those listed.
func unescaped(text, listed string) (string, error) {
	var b strings.Builder
	for k := 0; k < len(text); k++ {
		if text[k] != '\\' {
			b.WriteByte(text[k])
			continue
		}
		k++
		switch {
		case k < len(text) && text[k] == 'n':
			b.WriteByte('\n')
		case k < len(text) && strings.IndexByte(`\`+strings.Trim(listed, `\n`), text[k]) >= 0:
			b.WriteByte(text[k])
		default:
			return "", fmt.Errorf("a bad escape in %q", text)
		}
	}
	return b.String(), nil
}

// The parser of these tests finds what is wrong.
func TestExpositionParserIsStrict(t *testing.T) {
	head := "# HELP a_total What.\n# TYPE a_total counter\n"
	good, err := parseExposition(head + "a_total{b=\"c\\\\\\\"\\n\",d=\"\"} 1\na_total 2.5e-3\n")
	require.NoError(t, err)
	require.Equal(t, series{"a_total{b=c\\\"\n,d=}": 1, "a_total": 2.5e-3}, good)
	for name, text := range map[string]string{
		"no end":               head + "a_total 1",
		"an empty line":        head + "\na_total 1\n",
		"no help":              "# TYPE a_total counter\na_total 1\n",
		"no type":              "# HELP a_total What.\na_total 1\n",
		"no sample":            head,
		"help twice":           head + "a_total 1\n" + head + "a_total 2\n",
		"a sample twice":       head + "a_total 1\na_total 1\n",
		"another's sample":     head + "b_total 1\n",
		"a label twice":        head + "a_total{b=\"1\",b=\"2\"} 1\n",
		"a quote in a label":   head + "a_total{b=\"\"\"} 1\n",
		"a bad escape":         head + "a_total{b=\"\\t\"} 1\n",
		"a label without name": head + "a_total{=\"1\"} 1\n",
		"no value":             head + "a_total \n",
		"a time":               head + "a_total 1 x\n",
		"a counter below zero": head + "a_total -1\n",
		"a counter's name":     "# HELP a_seconds What.\n# TYPE a_seconds counter\na_seconds 1\n",
		"no unit":              "# HELP a What.\n# TYPE a gauge\na 1\n",
	} {
		_, err := parseExposition(text)
		require.Error(t, err, name)
	}
}

// The metrics of a job say what its status says, in the format that Prometheus reads.
func TestMetrics(t *testing.T) {
	h, live := idleHandler(t)
	h.folder = "a \"run\" in \\ and\nbeyond"
	_, err := live.Post(trainer.Up, 3)
	require.NoError(t, err)
	note := trainer.Note{Event: "decision", Time: time.Second}
	h.monitor = NewMonitor("ConvSmall", trainer.Progress{Phase: trainer.Trains, Devices: 2, Parameters: 14826, Layers: 7, PerEpoch: 5, Epoch: 2, Steps: 12, Loss: 0.5,
		Evaluated: true, Validation: trainer.Score{Accuracy: 0.75}, Budget: time.Hour, Time: time.Minute, Left: 59 * time.Minute,
		Next: trainer.Event{At: 50 * time.Minute, Change: trainer.Up}, Live: []trainer.LiveChange{{At: time.Second, Change: trainer.Up, Devices: 2}}}, nil, []trainer.Note{note})
	w := httptest.NewRecorder()
	require.Nil(t, h.metrics(w, nil))
	require.Equal(t, metricsType, w.Header().Get("Content-Type"))
	got, err := parseExposition(w.Body.String())
	require.NoError(t, err)
	want := series{"graft_job_budget_seconds": 3600, "graft_job_time_seconds": 60, "graft_job_time_left_seconds": 3540, "graft_job_devices": 2,
		"graft_job_network_parameters": 14826, "graft_job_network_layers": 7, "graft_job_pending_changes": 1, "graft_job_taken_changes_total": 1,
		"graft_job_decisions_total": 1, "graft_job_epoch": 2, "graft_job_epoch_steps": 5, "graft_job_steps_total": 12, "graft_job_train_loss_nats": 0.5,
		"graft_job_validation_accuracy_ratio": 0.75, "graft_job_info{folder=" + h.folder + ",network=ConvSmall}": 1, "graft_job_next_event_time_seconds{change=up}": 3000}
	for key, value := range want {
		require.Contains(t, got, key)
		require.Equal(t, value, got[key], key)
	}
	states := 0.0
	for _, p := range phases {
		states += got["graft_job_state{state="+string(p)+"}"]
	}
	require.Equal(t, 1.0, states, "one state is on")
}

// What is not known yet is null in the status, and no metric.
func TestListenSaysWhatIsNotKnown(t *testing.T) {
	h, _ := idleHandler(t)
	s := h.now()
	require.Nil(t, s.TrainLoss)
	require.Nil(t, s.ValidationAccuracy)
	got, err := parseExposition(formatMetrics(s))
	require.NoError(t, err)
	require.NotContains(t, got, "graft_job_train_loss_nats")
	require.NotContains(t, got, "graft_job_validation_accuracy_ratio")
	require.Equal(t, 60.0, got["graft_job_time_left_seconds"])
	require.Equal(t, 1.0, got["graft_job_state{state="+string(trainer.Trains)+"}"])
}
