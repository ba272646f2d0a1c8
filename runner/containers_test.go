package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// imageStage is a stage of a Dockerfile or of an Apptainer definition file.
type imageStage struct {
	name, from string
	steps      []string          // instructions of a Dockerfile, each on one line
	defaults   map[string]string // arguments with their defaults
	shells     []string          // shell scripts
	sections   string            // text of a stage of a definition file
}

// imageArguments holds the arguments of the container files, with their defaults.
var imageArguments = map[string]string{"APT_MIRROR": "", "GOPROXY": "", "GOSUMDB": "", "LIBTORCH": "", "TORCH": "",
	"TORCH_INDEX": "", "PIP_ARGS": "", "VERSION": "devel", "REVISION": "unknown", "BASE": "debian:12-slim"}

var (
	comment     = regexp.MustCompile(`(?m)^\s*#.*\n`)
	runFlags    = regexp.MustCompile(`^RUN( --\S+)* +`)
	defArgument = regexp.MustCompile(`(?m)^    ([A-Z_]+)=([^'\s]*)$`)
	defUse      = regexp.MustCompile(`\{\{ (\w+) \}\}`)
	defPost     = regexp.MustCompile(`(?s)%post\n(.*?)(\n%|$)`)
	defHead     = regexp.MustCompile(`^Bootstrap: docker\nFrom: (.*)\nStage: (\w+)\n`)
	aptInstall  = regexp.MustCompile(`apt-get install -y -qq --no-install-recommends ([^;\n]*)`)
	mirrorShell = regexp.MustCompile(`(?s)if \[ -n "\$APT_MIRROR" \].*?\bfi\b`)
)

// dockerStages reads the Dockerfile. The first stage holds the arguments before the first FROM.
func dockerStages(t *testing.T) []imageStage {
	text := comment.ReplaceAllString(contents(t, "../Dockerfile"), "")
	stages := []imageStage{{defaults: map[string]string{}}}
	for _, step := range strings.Split(strings.ReplaceAll(text, "\\\n", ""), "\n") {
		name, rest, _ := strings.Cut(step, " ")
		last := &stages[len(stages)-1]
		switch name {
		case "FROM":
			from, as, _ := strings.Cut(rest, " AS ")
			stages = append(stages, imageStage{name: as, from: from, defaults: map[string]string{}})
			continue
		case "ARG":
			argument, value, _ := strings.Cut(rest, "=")
			last.defaults[argument] = value
		case "RUN":
			last.shells = append(last.shells, runFlags.ReplaceAllString(step, ""))
		}
		last.steps = append(last.steps, step)
	}
	return stages
}

// apptainerStages reads graft.def.
func apptainerStages(t *testing.T) (stages []imageStage) {
	parts := strings.Split(contents(t, "../graft.def"), "\nBootstrap:")
	for _, text := range parts[1:] {
		text = "Bootstrap:" + text
		head := defHead.FindStringSubmatch(text)
		require.NotNil(t, head, text)
		stage := imageStage{name: head[2], from: head[1], sections: text, defaults: map[string]string{}}
		for _, argument := range defArgument.FindAllStringSubmatch(text, -1) {
			stage.defaults[argument[1]] = argument[2]
		}
		for _, shell := range defPost.FindAllStringSubmatch(text, -1) {
			stage.shells = append(stage.shells, shell[1])
		}
		stages = append(stages, stage)
	}
	return stages
}

// requireOrder checks that a stage has steps with these beginnings in this order.
func requireOrder(t *testing.T, stage imageStage, beginnings ...string) {
	t.Helper()
	at := 0
	for _, beginning := range beginnings {
		k := slices.IndexFunc(stage.steps[at:], func(step string) bool { return strings.HasPrefix(step, beginning) })
		require.GreaterOrEqual(t, k, 0, "%q after %d steps of %s: %q", beginning, at, stage.name, stage.steps)
		at += k + 1
	}
}

// installed returns the names that the shells of stages pass to apt-get install, sorted.
func installed(stages ...imageStage) (names []string) {
	for _, stage := range stages {
		for _, shell := range stage.shells {
			for _, list := range aptInstall.FindAllStringSubmatch(shell, -1) {
				names = append(names, strings.Fields(list[1])...)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Each stage of the Dockerfile starts from the base or an earlier stage. The last stage runs as an ordinary user.
func TestDockerfileStages(t *testing.T) {
	known := []string{"${BASE}"}
	stages := dockerStages(t)
	for _, stage := range stages[1:] {
		require.Contains(t, known, stage.from, stage.name)
		known = append(known, stage.name)
	}
	require.Equal(t, []string{"tools", "libtorch", "libraries", "builder", "runtime"}, known[1:])
	last := stages[len(stages)-1]
	require.Equal(t, "${BASE}", last.from, "nothing of the builder is left")
	requireOrder(t, last, "COPY --from=libraries", "COPY --from=builder /out/ /", "LABEL", "WORKDIR /data",
		"USER 1000:1000", `ENTRYPOINT ["graft"]`)
	require.Contains(t, last.shells[0], "--uid 1000 ")
	require.Contains(t, last.shells[0], "install -d -m 1777 -o graft -g graft /data")
	for _, step := range last.steps {
		require.False(t, strings.HasPrefix(step, "COPY") && !strings.HasPrefix(step, "COPY --from="), step)
	}
}

// A change of the sources repeats only the compilation: packages, LibTorch and Go modules come first.
func TestLayersAreInTheOrderOfTheirChanges(t *testing.T) {
	stages := map[string]imageStage{}
	for _, stage := range dockerStages(t) {
		stages[stage.name] = stage
		for _, step := range stage.steps {
			if copied, ok := strings.CutPrefix(step, "COPY "); ok && !strings.HasPrefix(copied, "--from=") {
				for _, path := range strings.Fields(copied)[:len(strings.Fields(copied))-1] {
					require.True(t, exists(filepath.Join("..", path)), step)
				}
			}
		}
	}
	require.Equal(t, "tools", stages["libtorch"].from)
	require.NotContains(t, strings.Join(stages["tools"].steps, "\n"), "COPY")
	requireOrder(t, stages["libtorch"], "COPY scripts/packages.sh scripts/wheel.sh scripts/", "RUN ")
	require.Equal(t, "libtorch", stages["builder"].from)
	requireOrder(t, stages["builder"], "COPY go.mod go.sum ./", "RUN go mod download", "COPY torch/csrc ",
		"RUN make library", "COPY . .", "ARG VERSION=", "ARG REVISION=", "RUN ")
	requireOrder(t, stages["runtime"], "RUN ", "COPY --from=libraries", "COPY --from=builder", "ARG VERSION=")
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// The runtime images have no compilers, and both container files install the same packages.
func TestContainersInstallTheSamePackages(t *testing.T) {
	docker, apptainer := dockerStages(t), apptainerStages(t)
	require.Len(t, apptainer, 2)
	runtime := []imageStage{docker[len(docker)-1], apptainer[1]}
	require.Equal(t, []string{"$libraries"}, installed(runtime[0]))
	require.Equal(t, []string{"$libraries"}, installed(runtime[1]))
	for _, stage := range runtime {
		require.Contains(t, stage.shells[0], "libraries=libturbojpeg0")
		require.Contains(t, stage.shells[0], `"$libraries libtorch1.13 libopenblas0-openmp"`)
	}
	tools := installed(docker[1])
	require.Equal(t, tools, installed(apptainer[0]))
	require.Subset(t, tools, []string{"g++", "git", "golang-go", "make", "python3-venv"})
	require.Contains(t, apptainer[1].sections, "%files from builder\n    /out.tar /out.tar\n")
	require.Regexp(t, `(?s)%test\n.*graft version\n.*graft doctor\n.*%help\n`, apptainer[1].sections)
}

// Every argument has one default in both files, and a stage uses only arguments that it declares.
func TestArgumentsOfContainers(t *testing.T) {
	docker, apptainer := dockerStages(t), apptainerStages(t)
	for name, stages := range map[string][]imageStage{"Dockerfile": docker, "graft.def": apptainer} {
		declared := map[string]string{}
		for _, stage := range stages {
			for argument, value := range stage.defaults {
				require.Equal(t, imageArguments[argument], value, "%s of %s", argument, name)
			}
			maps.Copy(declared, stage.defaults)
			for _, used := range defUse.FindAllStringSubmatch(stage.sections, -1) {
				require.Contains(t, stage.defaults, used[1], "in stage %s of %s", stage.name, name)
			}
		}
		require.Equal(t, imageArguments, declared, name)
	}
	label := "org.opencontainers.image."
	for _, name := range []string{"title", "description", "licenses", "version", "revision"} {
		require.Contains(t, contents(t, "../Dockerfile"), label+name+"=")
		require.Contains(t, apptainer[1].sections, label+name+" ")
	}
}

// The shell scripts of the container files parse, and APT_MIRROR replaces both of Debian's addresses.
func TestShellsOfContainers(t *testing.T) {
	mirrors := 0
	for _, stage := range append(dockerStages(t), apptainerStages(t)...) {
		for _, shell := range stage.shells {
			out, err := exec.Command("sh", "-n", "-c", shell).CombinedOutput()
			require.NoError(t, err, "%s: %s", shell, out)
			if script := mirrorShell.FindString(shell); script != "" {
				mirrors++
				requireMirror(t, script)
			}
		}
	}
	require.Equal(t, 4, mirrors)
}

// requireMirror runs the script that sets a mirror, with and without APT_MIRROR.
func requireMirror(t *testing.T, script string) {
	t.Helper()
	const suites = "\nSuites: bookworm bookworm-updates\n\n"
	sources := write(t, filepath.Join(t.TempDir(), "sources"),
		"URIs: http://debian.example/debian"+suites+"URIs: http://debian.example/debian-security\n")
	for _, c := range []struct{ mirror, want string }{
		{"", "http://debian.example/debian"}, {"http://mirror.example/d", "http://mirror.example/d"},
	} {
		command := exec.Command("sh", "-euc", script)
		command.Env = append(os.Environ(), "APT_MIRROR="+c.mirror, "sources="+sources)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
		require.Equal(t, "URIs: "+c.want+suites+"URIs: "+c.want+"-security\n", contents(t, sources))
	}
}

// make image passes version and revision, since an image is built without the folder .git.
func TestMakeImageStampsTheRevision(t *testing.T) {
	lines := strings.Split(contents(t, "../.dockerignore"), "\n")
	require.Subset(t, lines, []string{".git", "bin", "build", "runs", "**/*_test.go"})
	out, err := exec.Command("make", "-n", "-C", "..", "image", "DOCKER=podman", "IMAGE=name", "VERSION=1.2.3",
		"REVISION=abc", "LIBTORCH=wheel", "IMAGE_ARGS=--pull").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, strings.Join(strings.Fields(string(out)), " "), `podman build -t name `+
		`--build-arg VERSION="1.2.3" --build-arg REVISION="abc" \ --build-arg LIBTORCH="wheel" --pull .`)
	for version, modified := range map[string]string{"1.2.3": "false", "1.2.3-dirty": "true"} {
		stamp := exec.Command("make", "-s", "-C", "..", "--eval", `print: ; @echo "$(STAMP)"`, "print",
			"VERSION="+version, "REVISION=abc")
		stamp.Env = append(os.Environ(), "GIT_DIR=/nowhere", "MAKEFLAGS=")
		out, err := stamp.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "-X main.revision=abc -X main.modified="+modified+" ")
	}
}

// If a container program works here, the images build, print their version and revision, and run as an ordinary user.
func TestContainersBuild(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: images of containers take minutes and the network; set GRAFT_LONG=1")
	}
	built := false
	for _, program := range []string{"docker", "podman"} {
		if exec.Command(program, "info").Run() == nil {
			built = true
			requireImage(t, program)
		}
	}
	for _, program := range []string{"apptainer", "singularity"} {
		if exec.Command(program, "version").Run() == nil {
			built = true
			requireSIF(t, program)
		}
	}
	if !built {
		t.Skip("left out: none of docker, podman and apptainer works here; install one")
	}
}

// requireImage builds and runs the Dockerfile's image.
func requireImage(t *testing.T, program string) {
	script := fmt.Sprintf("make -s -C .. image DOCKER=%[1]s IMAGE=graft-test VERSION=1.2.3 REVISION=abc && "+
		"%[1]s run --rm graft-test version && %[1]s run --rm graft-test doctor && "+
		"%[1]s run --rm --entrypoint id graft-test && %[1]s run --rm --entrypoint touch graft-test /data/x; "+
		"code=$?; %[1]s rmi -f graft-test; exit $code", program)
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
	containsAll(t, string(out), "graft 1.2.3 (revision abc", "uid=1000(graft)")
}

// requireSIF builds the image of graft.def, which tests itself.
func requireSIF(t *testing.T, program string) {
	script := fmt.Sprintf("git -C .. archive -o '%[2]s/graft.tar' HEAD && cp ../graft.def '%[2]s' && cd '%[2]s' && "+
		"%[1]s build --fakeroot --build-arg VERSION=1.2.3 --build-arg REVISION=abc graft.sif graft.def && "+
		"%[1]s run graft.sif version", program, t.TempDir())
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "graft 1.2.3 (revision abc")
}
