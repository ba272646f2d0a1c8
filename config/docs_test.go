package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/original/originaltest"
)

// The files on the page about learning are valid, with and without their commented-out keys.
func TestThePageAboutLearningShowsRightFiles(t *testing.T) {
	page := must(os.ReadFile("../docs/learning.md"))
	shown := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, shown, 2)
	f := must(originaltest.Write(t.TempDir(), 2))
	own := strings.NewReplacer("tables/early", tableFolder(t, "early", 16), "tables/late", tableFolder(t, "late", 16),
		"tables/middle", tableFolder(t, "middle", 16), "vocabs/models.ids.pkl", f.Vocabulary)
	read := func(name, text string) string { return written(t, name, own.Replace(text)) }

	l := must(ReadTreeLearning(files.OS{}, read("a.toml", shown[0][1]), nil))
	require.Equal(t, 20, l.Run.Seeds)
	l = must(ReadTreeLearning(files.OS{},
		read("b.toml", regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(shown[0][1], "$1")), nil))
	_, held := l.Trees()
	require.Len(t, held, 1)
	require.Equal(t, "[16 0.01]", fmt.Sprint([]any{l.Learn.Sampled, l.Learn.Entropy}))

	_, err := readPolicyFile(
		read("c.toml", strings.ReplaceAll(shown[1][1], "weights = ", "# weights = ")), nil)
	require.NoError(t, err)
}
