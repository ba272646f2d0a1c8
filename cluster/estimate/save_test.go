package estimate_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/estimate"
	"graft/internal/files"
	"graft/internal/files/faults"
)

// small fits a model with numbers, texts, a bin of rare texts, missing values and a pair.
func small(t testing.TB) *estimate.Model {
	k := newKnown(1, 300)
	var texts []string
	for row := range 300 {
		texts = append(texts, []string{"", "a", "b, \"c\" <&>", "d", "e"}[row%5])
	}
	k.table.AddTexts("more", texts)
	shifted := k.table.Pick(rows(k.table))
	shifted.SetTarget(above(k.table.Target()))
	return fit(t, shifted, estimate.Options{Bins: 4, Pairs: 2, PairBins: 3, Bags: 2, Rounds: 20,
		Target: estimate.TargetLog})
}

func TestAModelComesBackAsItWas(t *testing.T) {
	m := small(t)
	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, m.Save(files.OS{}, path))
	back := must(estimate.Load(files.OS{}, path))
	require.True(t, reflect.DeepEqual(m, back))
	require.Equal(t, written(t, m), written(t, back))
	for row := range 100 {
		given := append(newKnown(2, 100).table.Row(row), estimate.Value{Text: "a"})
		want := must(m.Predict(given))
		require.Equal(t, want, must(back.Predict(given)))
	}
}

func TestSavingSurvivesEveryFault(t *testing.T) {
	m := small(t)
	old := "what was there"
	dir := t.TempDir()
	count := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, m.Save(count, filepath.Join(dir, "counted.json")))
	for at := 1; at <= len(count.Ops()); at++ {
		for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
			path := filepath.Join(dir, "model.json")
			require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
			fsys := faults.New(files.OS{}, at, kind)
			err := m.Save(fsys, path)
			data, readErr := os.ReadFile(path)
			require.NoError(t, readErr)
			if err == nil {
				require.Equal(t, written(t, m), string(data))
				continue
			}
			require.Contains(t, []string{old, written(t, m)}, string(data), "%s at %d", kind, at)
		}
	}
}

func TestDamageIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no JSON":        {`{"format"`, `{format`, "not an estimate model"},
		"another format": {`"format":1`, `"format":2`, "unsupported format 2"},
		"a new key":      {`"format":1`, `"format":1,"colour":"red"`, `unknown field "colour"`},
		"more behind it": {"]}\n", "]}]\n", "not an estimate model"},
		"target":         {`"target":"log"`, `"target":"exp"`, `unknown target "exp"`},
		"rows":           {`"rows":300`, `"rows":299`, "expected 299, the number of training rows"},
		"smear":          {`"smear":`, `"smear":-`, "smear is -"},
		"a name twice":   {`"name":"b"`, `"name":"a"`, "a duplicate"},
		"no name":        {`"name":"b"`, `"name":""`, "feature 1"},
		"edges":          {`"edges":[0.`, `"edges":[2.`, "feature 0"},
		"a text twice":   {`"red","blue"],`, `"red","red"],`, "is empty or a duplicate"},
		"own":            {`"own":3`, `"own":9`, "the feature has 9 bins"},
		"a term":         {`"features":[0]`, `"features":[1]`, "term 0"},
		"a pair": {`"features":[2,3]`, `"features":[3,2]`, "must use two features, " +
			"in ascending order"},
		"a feature": {`"features":[2,3]`, `"features":[2,9]`, "unknown feature 9"},
		"groups": {`"groups":[[0,1,2,3,3]`, `"groups":[[0,1,3,3,3]`, "expected consecutive " +
			"numbers from 1"},
		"a base": {`"base":`, `"base":9e999,"base":`, "not an estimate model"},
		"the numeric feature has text values": {`"name":"a",`, `"name":"a","levels":["a"],`,
			"the numeric feature has text values"},
		"a range":           {`"low":0.`, `"low":3.`, "the range of the feature is 3"},
		"texts and numbers": {`"text":true,`, `"text":true,"high":3,`, "the text feature has"},
		"a deviation":       {`"deviations":[0,`, `"deviations":[-1,`, "deviation -1"},
		"a value more":      {`"values":[`, `"values":[0,`, "term 0"},
	} {
		t.Run(name, func(t *testing.T) {
			text := written(t, small(t))
			require.True(t, strings.Contains(text, c.old), c.old)
			_, err := estimate.Parse([]byte(strings.Replace(text, c.old, c.new, 1)))
			require.ErrorContains(t, err, c.want)
		})
	}
	path := filepath.Join(t.TempDir(), "cut.json")
	require.NoError(t, os.WriteFile(path, []byte(written(t, small(t))[:2000]), 0o600))
	_, err := estimate.Load(files.OS{}, path)
	require.ErrorContains(t, err, path)
	_, err = estimate.Load(files.OS{}, filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzParse checks that every accepted model writes back unchanged and never panics.
func FuzzParse(f *testing.F) {
	text := written(f, small(f))
	f.Add([]byte(text))
	f.Add([]byte(strings.Replace(text, `"own":3`, `"own":2`, 1)))
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := estimate.Parse(data)
		if err != nil {
			return
		}
		require.Equal(t, written(t, m), written(t, must(estimate.Parse([]byte(written(t, m))))))
		row := make([]estimate.Value, len(m.Features()))
		for _, v := range []estimate.Value{{}, {Number: -1e30, Text: "a"}, {Number: 1e30, Text: "e"}} {
			for k := range row {
				row[k] = v
			}
			_, err := m.Explain(row)
			require.NoError(t, err)
		}
		for k := range m.Terms() {
			shape := must(m.Shape(k))
			require.NoError(t, shape.WriteCSV(new(bytes.Buffer)))
		}
		require.True(t, json.Valid([]byte(written(t, m))))
	})
}

func TestAShapeAsATable(t *testing.T) {
	table := new(estimate.Table)
	var x, y []float64
	var text []string
	for row := range 400 {
		x, text = append(x, float64(row%2)), append(text, []string{"plain", "a, \"b\""}[row/2%2])
		y = append(y, float64(2*(row%2)+4*(row/2%2)+row%2*(row/2%2)))
	}
	table.AddNumbers("x", x)
	table.AddTexts("text", text)
	table.SetTarget(y)
	m := fit(t, table, estimate.Options{Bags: 1, Rounds: 2000, LearningRate: 1, Pairs: 1})
	var files [3]bytes.Buffer
	for k := range files {
		shape := must(m.Shape(k))
		for c := range shape.Cells { // rounds values to keep the text short
			shape.Cells[c].Value = float64(int(shape.Cells[c].Value*8+100.5)-100) / 8
		}
		require.NoError(t, shape.WriteCSV(&files[k]))
	}
	require.Equal(t, "x,x low,x high,value,deviation,rows\n(missing),,,0,0,0\n0 to 0.5,0,0.5,-1.25,0,200\n"+
		"0.5 to 1,0.5,1,1.25,0,200\n", files[0].String())
	require.Equal(t, "text,value,deviation,rows\n(missing),0,0,0\n\"a, \"\"b\"\"\",2.25,0,200\nplain,-2.25,0,200\n",
		files[1].String())
	require.Contains(t, files[2].String(), "x,x low,x high,text,value,deviation,rows\n")
	require.Contains(t, files[2].String(), "\n0 to 0.5,0,0.5,plain,0.25,0,100\n")
	require.Equal(t, 10, strings.Count(files[2].String(), "\n"),
		"a line for each of three times three cells, and the head")
}
