package lint

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostFolders is the number of folders that fit on one screen.
const mostFolders = 25

// planned returns the top-level rooms in the table of a floor plan, in order.
func planned(page string) (names []string) {
	name := regexp.MustCompile("`([a-z0-9]+)`")
	for line := range strings.SplitSeq(page, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[2], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// ARCHITECTURE.md lists every room once, below all rooms that it imports, and the root has few folders.
func TestTheFloorPlanIsOfTheTree(t *testing.T) {
	tree, err := Load("../..")
	require.NoError(t, err)
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	plan := planned(string(page))
	folders, withGo := map[string]bool{}, map[string]bool{}
	for _, f := range tree.Files {
		if top, _, nested := strings.Cut(f.Path, "/"); nested && !strings.HasPrefix(top, ".") {
			folders[top] = true
			withGo[top] = withGo[top] || f.Go != nil
		}
	}
	require.LessOrEqual(t, len(folders), mostFolders)
	for name := range folders {
		require.True(t, slices.Contains(plan, name) || strings.Contains(string(page), "`"+name+"`"),
			"%s is not on the page", name)
		require.Equal(t, withGo[name] && standalone[name] == nil, slices.Contains(plan, name), name)
	}
	requireOrder(t, tree, plan)
}

// requireOrder requires that a room imports only rooms above it in the plan; internal is exempt.
func requireOrder(t *testing.T, tree *Tree, plan []string) {
	t.Helper()
	for _, f := range tree.GoFiles() {
		from := slices.Index(plan, f.Room())
		if from <= 0 || f.IsTest() {
			continue
		}
		for path := range f.Imports() {
			inside, ours := strings.CutPrefix(path, tree.Module+"/")
			room, _, _ := strings.Cut(inside, "/")
			if to := slices.Index(plan, room); ours && to > from {
				t.Errorf("%s: %s imports %s, which stands below it in ARCHITECTURE.md", f.Path, f.Room(), inside)
			}
		}
	}
}
