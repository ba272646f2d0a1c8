package main

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/config/comments"
	"graft/internal/telemetry"
	"graft/report"
	"graft/report/contrast"
	"graft/report/plot"
	"graft/report/runs"
	"graft/report/serve"
	"graft/runner/application"
	"graft/runner/curves"
	"graft/runner/describe"
	"graft/runner/doctor"
	"graft/runner/estimates"
	"graft/runner/export"
	"graft/runner/fabric"
	"graft/runner/imports"
	"graft/runner/learn"
	"graft/runner/node"
	"graft/runner/pipeline"
	"graft/runner/profile"
	"graft/runner/simulate"
	"graft/runner/surgery"
	"graft/runner/sweep"
	"graft/runner/table"
	"graft/runner/traces"
	"graft/runner/train"
)

// updateDocs rewrites pages that are generated from the code.
var updateDocs = flag.Bool("update-docs", false, "write docs/json.md as the code has it")

// jsonReports holds the objects that commands print with --json, by command.
var jsonReports = map[string][]any{
	"graft cluster run":    {study.Outcome{}},
	"graft config show":    {configReport{}},
	"graft demo":           {train.Result{}},
	"graft doctor":         {doctor.Report{}},
	"graft export":         {export.Report{}},
	"graft fabric graph":   {fabric.GraphReport{}},
	"graft fabric run":     {study.Outcome{}, fabric.PlayReport{}, fabric.Experiments{}},
	"graft fabric step":    {fabric.StepReport{}},
	"graft evaluate":       {runs.EvaluationReport{}, runs.LeaveOutReport{}, runs.ElasticComparison{}},
	"graft list":           {listIndex{}, listReport{}},
	"graft learn":          {learn.PoliciesResult{}, learn.StudyResult{}, learn.SchedulerResult{}, learn.CasesResult{}},
	"graft model list":     {modelList{}},
	"graft model forward":  {export.ForwardReport{}},
	"graft model import":   {imports.Report{}},
	"graft model show":     {describe.Network{}, imports.Network{}},
	"graft profile":        {profile.Report{}},
	"graft profile show":   {profile.Report{}},
	"graft simulate":       {simulate.Report{}, simulate.Submission{}},
	"graft fleet attach":   {simulate.Report{}, sweep.Result{}},
	"graft fleet status":   {simulate.Status{}, sweep.Status{}},
	"graft pipeline":       {pipeline.Result{}},
	"graft plot":           {plot.Report{}},
	"graft report":         {report.Report{}, contrast.Report{}},
	"graft serve":          {serveReport{}, serve.RunList{}},
	"graft surgery":        {surgery.Report{}},
	"graft table check":    {table.CheckReport{}},
	"graft table convert":  {table.Whole{}},
	"graft table show":     {runs.TableReport{}},
	"graft trace failures": {traces.FailureInfo{}},
	"graft trace describe": {traces.Description{}},
	"graft train":          {train.Result{}, sweep.Result{}},
	"graft compare":        {sweep.Result{}},
	"graft version":        {versionInfo{}},
	"graft vocab show":     {vocabReport{}},
	"graft weights show":   {weightsReport{}},

	"graft node simulate":       {study.Outcome{}},
	"graft node run":            {runs.NodeRunOutcome{}, runs.NodePlan{}},
	"graft cluster application": {application.Report{}},
	"graft cluster estimate":    {estimates.DurationReport{}},
	"graft cluster forecast":    {estimates.ForecastReport{}},
	"graft cluster curves":      {curves.Report{}},
	"graft cluster shapes":      {estimates.ShapesReport{}},

	"graft profile predict": {profile.Prediction{}},
	"graft profile import":  {profile.Imported{}},

	"graft node devices": {node.DeviceReport{}, node.SMIReport{}},
	"graft node profile": {runs.NodeProfileOutcome{}},
}

// which states when a command with several objects prints an object.
var which = map[reflect.Type]string{
	reflect.TypeFor[runs.EvaluationReport](): "Without `--leave-out`.",
	reflect.TypeFor[runs.LeaveOutReport]():   "With `--leave-out`.",
	reflect.TypeFor[train.Result]():          "Of a single job.",
	reflect.TypeFor[sweep.Result](): "Of trials: with `--seeds`, `--sweep` or `--cases`, " +
		"and of `graft compare`.",
	reflect.TypeFor[node.DeviceReport](): "Of this machine.", reflect.TypeFor[node.SMIReport](): "With `--smi`.",
	reflect.TypeFor[fabric.PlayReport]():     "With `--compat`.",
	reflect.TypeFor[fabric.Experiments]():    "With `--study`.",
	reflect.TypeFor[simulate.Report]():       "Of a simulation that is over.",
	reflect.TypeFor[simulate.Submission]():   "Of one that was given to a cluster.",
	reflect.TypeFor[serve.RunList]():         "Response to `GET /runs.json`, with the numbers of the page of all runs.",
	reflect.TypeFor[learn.PoliciesResult]():  "Of structural policies.",
	reflect.TypeFor[learn.StudyResult]():     "Of a policy of the original system.",
	reflect.TypeFor[learn.SchedulerResult](): "Of schedulers of elastic jobs and of a machine's tasks.",
	reflect.TypeFor[learn.CasesResult]():     "Of schedulers of elastic jobs, with `--cases`.",
	reflect.TypeFor[runs.NodeRunOutcome]():   "Of tasks that ran.",
	reflect.TypeFor[runs.NodePlan]():         "With `--dry-run`.",
	reflect.TypeFor[contrast.Report]():       "With `--contrasts`.",
	reflect.TypeFor[listIndex]():             "Without a kind.",
	reflect.TypeFor[listReport]():            "With a kind.",
}

// aboutObjects is the start of the page.
const aboutObjects = `# What commands print with ` + "`--json`" + `

One object on one line of stdout, whose keys and types keep their meaning: new ones may
come, and none goes without a word in the changelog. A key is always there unless its
meaning says when; a list may be ` + "`null`" + ` where it is empty. Times ending in ` + "`_ns`" + ` are whole
nanoseconds, shares lie between 0 and 1, points are hundredths of accuracy. A command that fails
prints an object on stderr in place of a message, with its [exit code](exit-codes.md):

| key | type | meaning |
| --- | --- | --- |
%s
This page is made of the comments in the code, and a test holds it against them:
` + "`go test ./runner -run JSON -update-docs`" + `.
`

// objects generates the page about objects.
type objects struct {
	t       *testing.T
	words   map[string]map[string]string // comments of fields by package folder
	waiting []reflect.Type
	known   map[reflect.Type]bool
}

func (p *objects) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, aboutObjects, p.rows(reflect.TypeFor[errorReport]()))
	paths := []string{}
	for path := range jsonReports {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&b, "\n## %s\n", path)
		for _, report := range jsonReports[path] {
			t := reflect.TypeOf(report)
			if about := which[t]; about != "" {
				b.WriteString("\n" + about + "\n")
			}
			b.WriteString("\n| key | type | meaning |\n| --- | --- | --- |\n" + p.rows(t))
		}
	}
	b.WriteString("\n# Objects inside\n")
	for k := 0; k < len(p.waiting); k++ {
		t := p.waiting[k]
		fmt.Fprintf(&b, "\n## %s\n\n| key | type | meaning |\n| --- | --- | --- |\n%s", title(t), p.rows(t))
	}
	return b.String()
}

// rows returns the table rows of a struct.
func (p *objects) rows(t reflect.Type) string {
	var b strings.Builder
	for _, f := range jsonFields(t) {
		about := p.about(f)
		assert.NotEmpty(p.t, about, "%s.%s has no comment that says what it means", f.of, f.Name)
		if f.optional {
			about += " May be left out."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.key, p.kind(f.Type), strings.ReplaceAll(about, "|", `\|`))
	}
	return b.String()
}

// about returns the comment of a field.
func (p *objects) about(f jsonField) string {
	folder, ours := strings.CutPrefix(f.of.PkgPath(), "graft/")
	if !ours {
		folder = "runner"
	}
	if p.words[folder] == nil {
		words, err := comments.Fields(filepath.Join("..", folder),
			func(field string) string { return strings.ToLower(field) })
		require.NoError(p.t, err)
		p.words[folder] = words
	}
	return p.words[folder][f.of.Name()+"."+f.Name]
}

// kind returns a type in words.
func (p *objects) kind(t reflect.Type) string {
	get, optional := t.MethodByName("Get")
	switch {
	case optional && isOpaque(t): // optional values of telemetry
		return p.kind(get.Type.Out(0)) + " or null"
	case t == reflect.TypeFor[telemetry.Throttle]():
		return "list of string"
	case t == reflect.TypeFor[time.Duration]():
		return "int, ns"
	case t == reflect.TypeFor[json.RawMessage]():
		return "any"
	case t == reflect.TypeFor[time.Time]() || isOpaque(t):
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.kind(t.Elem()) + " or null"
	case reflect.Slice, reflect.Array:
		return "list of " + p.kind(t.Elem())
	case reflect.Map:
		return "object of " + p.kind(t.Elem())
	case reflect.Struct:
		if !p.known[t] {
			p.known[t] = true
			p.waiting = append(p.waiting, t)
		}
		return fmt.Sprintf("[%s](#%s)", title(t), strings.ReplaceAll(title(t), " ", "-"))
	case reflect.Bool, reflect.String:
		return t.Kind().String()
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Interface:
		return "any"
	}
	return "int"
}

// title returns a type's name in words, after its package if the names could clash.
func title(t reflect.Type) string {
	var b strings.Builder
	for k, r := range t.Name() {
		if unicode.IsUpper(r) && k > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	name := b.String()
	at := strings.LastIndexByte(t.PkgPath(), '/')
	if top, _, _ := strings.Cut(strings.TrimPrefix(t.PkgPath(), "graft/"), "/"); at >= 0 && top != "runner" &&
		top != "report" {
		name = t.PkgPath()[at+1:] + " " + name
	}
	return name
}

// jsonField is a field as encoding/json encodes it.
type jsonField struct {
	reflect.StructField
	of       reflect.Type // struct that has the field
	key      string
	optional bool
}

// jsonFields returns the fields of a struct's JSON object.
func jsonFields(t reflect.Type) (list []jsonField) {
	for k := range t.NumField() {
		f := t.Field(k)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case key == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && key == "" && inner.Kind() == reflect.Struct:
			list = append(list, jsonFields(inner)...)
		default:
			if key == "" {
				key = f.Name
			}
			list = append(list, jsonField{f, t, key, strings.Contains(options, "omit")})
		}
	}
	return list
}

// isOpaque reports whether a type encodes itself as text.
func isOpaque(t reflect.Type) bool {
	text, object := reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[json.Marshaler]()
	return t.Implements(text) || t.Implements(object)
}

func TestJSONPageIsOfTheReports(t *testing.T) {
	p := &objects{t: t, words: map[string]map[string]string{}, known: map[reflect.Type]bool{}}
	text := p.text()
	names := map[string]reflect.Type{}
	for _, w := range p.waiting {
		require.Nil(t, names[title(w)], "%s and %s have one title", w, names[title(w)])
		names[title(w)] = w
	}
	if *updateDocs {
		write(t, "../docs/json.md", text)
	}
	written := contents(t, "../docs/json.md")
	require.Equal(t, text, written, "keys and types are promised; run the test with -update-docs if this is meant")
}

func TestJSONReportsAreOfAllCommands(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		require.Equal(t, command.Flags().Lookup("json") != nil, jsonReports[command.CommandPath()] != nil,
			command.CommandPath())
	})
}

// unpromised collects output of commands in all tests that contradicts the page.
var unpromised struct {
	sync.Mutex
	list []string
}

// holdToPage checks the --json output of a command against its documented types.
func holdToPage(args []string, stdout string) {
	command, _, err := newRootCommand().Find(args)
	if err != nil || !slices.Contains(args, "--json") || stdout == "" {
		return
	}
	var faults []string
	for _, report := range jsonReports[command.CommandPath()] {
		var v any
		err := json.Unmarshal([]byte(stdout), &v)
		if err == nil {
			err = shaped(v, reflect.TypeOf(report), "")
		}
		if err == nil {
			return
		}
		faults = append(faults, err.Error())
	}
	unpromised.Lock()
	defer unpromised.Unlock()
	unpromised.list = append(unpromised.list, fmt.Sprintf("%s: %s", command.CommandPath(), strings.Join(faults, "; ")))
}

// shaped returns an error if a value does not match a type.
func shaped(v any, t reflect.Type, at string) error {
	if t.Kind() == reflect.Pointer && v != nil {
		t = t.Elem()
	}
	switch v := v.(type) {
	case nil:
		if !slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface}, t.Kind()) &&
			!isOpaque(t) {
			return fmt.Errorf("%s is null", at)
		}
	case []any:
		for k, item := range v {
			if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
				return openTo(t, at)
			}
			if err := shaped(item, t.Elem(), fmt.Sprintf("%s[%d]", at, k)); err != nil {
				return err
			}
		}
	case map[string]any:
		return shapedObject(v, t, at)
	}
	return nil
}

func openTo(t reflect.Type, at string) error {
	if t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]() || isOpaque(t) {
		return nil
	}
	return fmt.Errorf("%s is no %s", at, t)
}

func shapedObject(v map[string]any, t reflect.Type, at string) error {
	switch t.Kind() {
	case reflect.Map:
		for key, item := range v {
			if err := shaped(item, t.Elem(), at+"."+key); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
	default:
		return openTo(t, at)
	}
	known := map[string]bool{}
	for _, f := range jsonFields(t) {
		known[f.key] = true
		item, there := v[f.key]
		if !there && !f.optional {
			return fmt.Errorf("%s has no %s", at, f.key)
		}
		if there {
			if err := shaped(item, f.Type, at+"."+f.key); err != nil {
				return err
			}
		}
	}
	for key := range v {
		if !known[key] {
			return fmt.Errorf("%s has %s, of which nothing is said", at, key)
		}
	}
	return nil
}

func TestJSONOfAnotherShapeIsNoticed(t *testing.T) {
	require.NoError(t, shaped(map[string]any{"command": "", "kind": "", "code": 1.0, "message": ""},
		reflect.TypeFor[errorReport](), ""))
	require.ErrorContains(t, shaped(map[string]any{"command": ""}, reflect.TypeFor[errorReport](), ""), "has no kind")
	require.ErrorContains(t, shaped(map[string]any{"command": "", "kind": "", "code": 1.0, "message": "", "more": 1.0},
		reflect.TypeFor[errorReport](), ""), "has more")
	require.ErrorContains(t, shaped(map[string]any{"folder": "", "outcome": nil, "events": []any{nil}, "epochs": nil},
		reflect.TypeFor[train.Result](), ""), ".events[0] is null")
	require.ErrorContains(t, shaped([]any{1.0}, reflect.TypeFor[errorReport](), "it"), "it is no main.errorReport")
}
