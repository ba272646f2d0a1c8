package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
)

// heeded matches the blocks of a page that a test executes. They have a mark after their language: "run" has command
// lines after $, with their output; file=NAME is a file that they need; from=PATH is quoted from the source. In output,
// … stands for any text, even several lines.
var heeded = regexp.MustCompile("(?ms)^```[a-z]+ (run|file=\\S+|from=\\S+)\n(.*?)^```$")

// promptPattern matches the start of a command line.
var promptPattern = regexp.MustCompile(`(?m)^\$ `)

// followPage runs a page's commands in the current folder, and returns the number of executed blocks.
func followPage(t *testing.T, source, path string, env []string) int {
	t.Helper()
	text := contents(t, path)
	blocks := heeded.FindAllStringSubmatch(text, -1)
	for _, block := range blocks {
		what, name, _ := strings.Cut(block[1], "=")
		switch what {
		case "file":
			write(t, name, block[2])
		case "from":
			quoted := contents(t, filepath.Join(source, name))
			for part := range strings.SplitSeq(block[2], "…\n") {
				require.Contains(t, quoted, part, "%s quotes %s", path, name)
			}
		default:
			require.Regexp(t, `^\$ `, block[2], "%s: a command line begins with a dollar", path)
			for _, line := range promptPattern.Split(block[2], -1)[1:] {
				command, want, _ := strings.Cut(line, "\n")
				tryLine(t, path, command, want, env)
			}
		}
	}
	return len(blocks)
}

// tryLine runs a command line and compares its output.
func tryLine(t *testing.T, path, line, want string, env []string) {
	t.Helper()
	command := exec.Command("sh", "-ec", line)
	command.Env = env
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	require.NoError(t, command.Run(), "%s: %s\n%s", path, line, &stderr)
	require.Regexp(t, printed(want), strings.TrimSpace(stdout.String()), "%s: %s", path, line)
}

// printed returns a pattern for the output that a page shows. Column widths may differ, since omitted rows affect them.
func printed(want string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	first := true
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		if !first {
			b.WriteString(`\n`)
		}
		first = false
		if strings.TrimSpace(line) == "…" {
			b.WriteString(`.*?`)
			continue
		}
		quoted := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(strings.Fields(line), " ")), "…", `[^\n]*?`)
		b.WriteString(` *` + strings.ReplaceAll(quoted, " ", " +") + ` *`)
	}
	return b.String() + `\z`
}

// docFolder changes to a new folder, and returns the source folder and an environment in which graft is this test
// binary.
func docFolder(t *testing.T) (source string, env []string) {
	t.Helper()
	source, err := filepath.Abs("..")
	require.NoError(t, err)
	bin := t.TempDir()
	asGraft(t, bin)
	t.Chdir(t.TempDir())
	return source, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1",
		"PYTHONPATH="+filepath.Join(source, "python"), "PYTHONDONTWRITEBYTECODE=1")
}

// writePhotos writes a folder of small images of two classes.
func writePhotos(t *testing.T) {
	t.Helper()
	for k := range 40 {
		class := []string{"cats", "dogs"}[k%2]
		require.NoError(t, os.MkdirAll(filepath.Join("photos", class), 0o700))
		picture := image.NewRGBA(image.Rect(0, 0, 20, 20))
		for at := range 400 {
			picture.Set(at%20, at/20, color.RGBA{R: uint8(at * (k%2 + 1)), G: uint8(k * 5), A: 255})
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, picture))
		require.NoError(t, os.WriteFile(filepath.Join("photos", class, fmt.Sprintf("%02d.png", k)), b.Bytes(), 0o600))
	}
}

// The tutorial's commands print what it shows, from the first job to the last table.
func TestTutorial(t *testing.T) {
	source, env := docFolder(t)
	require.Greater(t, followPage(t, source, filepath.Join(source, "docs/tutorial.md"), env), 8)
}

// The commands on the page of training steps print what it shows.
func TestFabricPage(t *testing.T) {
	source, env := docFolder(t)
	require.NoError(t, os.CopyFS(filepath.Join("scenarios", "fabric"),
		os.DirFS(filepath.Join(source, "scenarios", "fabric"))))
	require.Equal(t, 2, followPage(t, source, filepath.Join(source, "docs/fabric.md"), env))
}

// The commands on the page of adaptive jobs print what it shows.
func TestAdaptivePage(t *testing.T) {
	source, env := docFolder(t)
	require.NoError(t, os.CopyFS(filepath.Join("scenarios", "adaptive"),
		os.DirFS(filepath.Join(source, "scenarios", "adaptive"))))
	require.Equal(t, 2, followPage(t, source, filepath.Join(source, "docs/adaptive.md"), env))
}

// The commands on the page of the cluster print what it shows.
func TestClusterPage(t *testing.T) {
	source, env := docFolder(t)
	copyScenarios(t, source, "types")
	require.Equal(t, 7, followPage(t, source, filepath.Join(source, "docs/cluster.md"), env))
}

// copyScenarios copies a folder of scenarios from the source into the current folder.
func copyScenarios(t *testing.T, source, name string) {
	require.NoError(t, os.CopyFS(filepath.Join("scenarios", name), os.DirFS(filepath.Join(source, "scenarios", name))))
}

func TestHowTos(t *testing.T) {
	pages, err := filepath.Glob("../docs/howto/*.md")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(pages), 6)
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			switch filepath.Base(page) {
			case "compare.md", "learn-a-scheduler.md", "machines.md":
				if !longTests {
					t.Skip("left out: the page takes a quarter of a minute; set GRAFT_LONG=1")
				}
			case "slurm.md":
				onCluster(t)
			case "python.md":
				pythons(t)
			}
			source, env := docFolder(t)
			writePhotos(t)
			if filepath.Base(page) == "worth.md" {
				copyScenarios(t, source, "growing")
			}
			require.Positive(t, followPage(t, source, filepath.Join(source, "docs/howto", filepath.Base(page)), env))
		})
	}
}

// onCluster makes Slurm's programs use a test cluster. Without Slurm the test is skipped, or fails in CI.
func onCluster(t *testing.T) {
	fleettest.NeedSlurm(t)
	cluster, err := fleettest.StartCluster(fleet.NewClock(time.Now))
	require.NoError(t, err)
	t.Cleanup(cluster.Stop)
	cluster.Use(t)
}

// The pattern rejects different output and ignores omitted text.
func TestPagesAreCompared(t *testing.T) {
	want := "NAME  SECONDS\none   …\n…\nend …%"
	require.Regexp(t, printed(want), "NAME      SECONDS\none        1.5\nmore\nlines\nend 5%")
	require.NotRegexp(t, printed(want), "NAME      SECONDS\ntwo        1.5\nmore\nend 5%")
	require.NotRegexp(t, printed(want), "NAME      SECONDS\none        1.5\nmore\nend 5% more")
	require.NotRegexp(t, printed(want), "NAMES     SECONDS\none        1.5\nmore\nend 5%")
}
