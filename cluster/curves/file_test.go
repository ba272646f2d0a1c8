package curves

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func text(t testing.TB, curves ...*Curve) string {
	var b bytes.Buffer
	require.NoError(t, Write(&b, curves))
	return b.String()
}

func TestFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	a, b := drawCurve(r), drawCurve(r)
	b.Name = "other"
	path := filepath.Join(t.TempDir(), "curves.json")
	require.NoError(t, os.WriteFile(path, []byte(text(t, a, b)), 0o600))
	got, err := Read(files.OS{}, path)
	require.NoError(t, err)
	require.Equal(t, []*Curve{a, b}, got)
	_, err = Read(files.OS{}, path+"x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDamagedFiles(t *testing.T) {
	c := drawCurve(rand.New(rand.NewPCG(9, 10)))
	good := text(t, c)
	without := func(pattern string) string { return regexp.MustCompile(pattern).ReplaceAllString(good, "") }
	for _, bad := range []struct{ text, says string }{
		{"", "EOF"}, {"[]", "cannot unmarshal"}, {good + "{}", "text after"}, {good[:100], "unexpected EOF"},
		{strings.Replace(good, `"format": 1`, `"format": 2`, 1), "format is 2; expected 1"},
		{`{"format": 1, "curves": []}`, "got 0 curves"}, {`{"format": 1, "curves": [null]}`, "curves[0] is null"},
		{strings.Replace(good, `"power"`, `"pow"`, 1), `unknown field "pow"`},
		{strings.Replace(good, `"name": "drawn"`, `"name": ""`, 1), "name is missing"},
		{strings.Replace(good, `"actions": 3`, `"actions": -3`, 1), "actions is -3"},
		{without(`"rate": {[^}]*},`), `curves[0]: the key "rate" is missing`},
		{without(`"deepen": [^,]*,`), `curves[0]: the key "deepen" of "rate" is missing`},
		{without(`"actions": 3,`), `curves[0]: the key "actions" is missing`},
		{text(t, c, c), `duplicate name "drawn"`},
		{text(t, &Curve{Name: "a", Chance: 2, Power: 0, First: 3, Rate: Terms{1e300, 0, 0}}), "chance is 2"},
	} {
		_, err := parse([]byte(bad.text))
		require.ErrorContains(t, err, bad.says, bad.text)
	}
}

// FuzzParse checks that every accepted curve gives valid errors and needs.
func FuzzParse(f *testing.F) {
	f.Add(text(f, drawCurve(rand.New(rand.NewPCG(11, 12)))))
	f.Add(`{"format": 1, "curves": [{"name": "a", "chance": 1, "power": 10, "rate": {"initial": -50}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse([]byte(text))
		if err != nil {
			return
		}
		for _, c := range list {
			for _, n := range []Network{{}, {1, 1}, {c.Actions, 0}} {
				e := c.Train(n, c.Grow(Deepen, c.Chance), 0.5)
				require.True(t, e >= 0 && e <= c.Chance, "%v %+v", e, c)
				require.GreaterOrEqual(t, c.Needs(n, e, c.Chance/2), 0.0)
			}
		}
	})
}
