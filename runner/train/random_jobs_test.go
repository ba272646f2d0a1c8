package train_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomJob is a random job file, with an image, text or table network on the virtual clock. It is next to the files
// that it reads.
type randomJob struct {
	*rand.Rand
	graph      bool // the network runs as a graph, not as a tree of layers
	mixup      bool
	activation string // activation of a tree
	grouped    bool   // the network has a GroupNorm
	text       strings.Builder
	folder     string
}

// drawJob writes a random job and its files into a folder, and returns the path of the job file.
func drawJob(t testing.TB, seed uint64, folder string) string {
	j := &randomJob{Rand: rand.New(rand.NewPCG(seed, 41)), folder: folder}
	actions := j.data(t)
	j.section("time")
	budget := 300 + j.IntN(500)
	j.set("budget", fmt.Sprintf("%q", fmt.Sprintf("%dms", budget)))
	if j.IntN(4) == 0 {
		j.set("stop", fmt.Sprintf("%q", fmt.Sprintf("%dms", budget*(60+j.IntN(40))/100)))
	}
	if j.IntN(4) == 0 {
		j.set("stop_loss", j.pick(0.8, 1.2))
	}
	j.set("events", j.events())
	j.maybe("devices", 2)
	j.training()
	j.adapting(actions)
	path := filepath.Join(folder, "job.toml")
	require.NoError(t, os.WriteFile(path, []byte(j.text.String()), 0o600))
	return path
}

func (j *randomJob) section(name string)   { fmt.Fprintf(&j.text, "[%s]\n", name) }
func (j *randomJob) set(key string, v any) { fmt.Fprintf(&j.text, "%s = %v\n", key, v) }
func (j *randomJob) toss() bool            { return j.IntN(2) == 0 }
func (j *randomJob) quote(s string) string { return fmt.Sprintf("%q", s) }
func (j *randomJob) pick(all ...any) any   { return all[j.IntN(len(all))] }
func (j *randomJob) maybe(key string, v any) { // sets a key in half of the jobs
	if j.toss() {
		j.set(key, v)
	}
}

// write writes a file next to the job.
func (j *randomJob) write(t testing.TB, name, text string) string {
	path := filepath.Join(j.folder, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// data draws the network and its data, and returns actions on the network.
func (j *randomJob) data(t testing.TB) []string {
	switch j.IntN(4) {
	case 0:
		return j.characters(t)
	case 1:
		return j.table(t)
	}
	return j.images(t)
}

func (j *randomJob) images(t testing.TB) []string {
	channels, wide := 4+j.IntN(4), 8
	if j.IntN(8) == 0 {
		channels, wide = 64, 64 // LibTorch splits their weight gradients among threads
	}
	j.activation = j.pick(`"ReLU()"`, `"Tanh()"`, `"GELU()"`).(string)
	block := func(name string, from, to int) string {
		norm := j.pick(fmt.Sprintf(`"BatchNorm2d(%d)", `, to), fmt.Sprintf(`"GroupNorm(1, %d)", `, to), "").(string)
		j.grouped = j.grouped || strings.Contains(norm, "Group")
		return fmt.Sprintf(`  {name = %q, block = ["Conv2d(%d, %d, 3, padding=1)", %s%s]},`, name, from, to, norm,
			j.activation)
	}
	tail := `  "AdaptiveAvgPool2d(1)", "Flatten()", ` + j.pick("", `"Dropout(0.3)", `, fmt.Sprintf(`"Linear(%d, `+
		`%d)", "BatchNorm1d(%d)", "ReLU()", `, wide, wide, wide)).(string) + fmt.Sprintf(`"Linear(%d, 4)",`, wide)
	path := j.write(t, "net.toml",
		strings.Join([]string{`name = "Random"`, "input = [3, 16, 16]", "layers = [", block("conv1", 3, channels),
			"  " + j.pick(`"MaxPool2d(2)"`, `"AvgPool2d(2)"`).(string) + ",", block("conv2", channels, wide), tail, "]",
			""}, "\n"))
	j.section("network")
	j.set("file", j.quote(path))
	j.section("data")
	j.splits()
	if j.toss() {
		j.set("mean", "[0.4]")
		j.set("deviation", j.pick("[0.3]", "[0.2, 0.3, 0.4]"))
	}
	j.set("synthetic.classes", 4)
	j.set("synthetic.size", 16)
	j.set("synthetic.train", 60+j.IntN(80))
	j.set("synthetic.test", 20+j.IntN(20))
	j.maybe("synthetic.noise", 10+j.IntN(60))
	j.maybe("synthetic.textures", true)
	j.section("augment")
	j.maybe("pad", 1+j.IntN(2))
	j.maybe("flip", true)
	j.maybe("cutout", 1+j.IntN(6))
	if j.toss() {
		j.set("rand_augment", 1+j.IntN(2))
		j.maybe("magnitude", 1+j.IntN(20))
	}
	if j.mixup = j.toss(); j.mixup {
		j.set("mixup", j.pick(0.2, 0.4))
	}
	return []string{"none", "deepen:conv1", "deepen:conv2", "branch:conv1", fmt.Sprintf("widen:conv1:%d", 2*channels),
		fmt.Sprintf("widen:conv2:%d", 2*wide), "kernel:conv2:5"}
}

// splits draws the selection of examples.
func (j *randomJob) splits() {
	j.maybe("seed", 1+j.IntN(5))
	j.maybe("validation_share", j.pick(0.15, 0.3))
	j.maybe("test_as_validation", true)
	j.maybe("max_images", 30+j.IntN(20))
}

// transformer writes a small transformer, and sets it as the job's network.
func (j *randomJob) transformer(t testing.TB, lines ...string) {
	j.graph = true
	lines = append([]string{`name = "Random"`, "[transformer]", "width = 16", "heads = 2", "depth = 2", "context = 16"},
		lines...)
	for _, line := range []string{`norm = "rms"`, `mlp = "swiglu"`, `no_bias = true`, `positions = "rotary-halves"`} {
		if j.toss() {
			lines = append(lines, line)
		}
	}
	j.section("network")
	j.set("file", j.quote(j.write(t, "net.toml", strings.Join(lines, "\n")+"\n")))
}

func (j *randomJob) characters(t testing.TB) []string {
	var text strings.Builder
	for k := range 700 {
		fmt.Fprintf(&text, "%d ", k*k%977)
	}
	path := j.write(t, "text.txt", text.String())
	j.transformer(t)
	j.section("data")
	j.set("kind", j.quote("text"))
	j.set("path", j.quote(path))
	j.set("context", 16)
	j.maybe("tokens", j.quote("characters"))
	j.splits()
	return []string{"none", "deepen:blocks.0", "deepen:blocks.1", "none", "deepen:blocks.0", "deepen:blocks.1"}
}

func (j *randomJob) table(t testing.TB) []string {
	each := j.toss()
	var rows strings.Builder
	rows.WriteString("words,tag\n")
	for k := range 90 {
		label := fmt.Sprint(k % 3)
		if each {
			label = fmt.Sprintf("%d %d", k%3, k%2)
		}
		fmt.Fprintf(&rows, "n%d is%d,%s\n", k*k%89, k%3, label)
	}
	path := j.write(t, "table.csv", rows.String())
	task, classes := "text", 3
	if each {
		task = "word"
	}
	j.transformer(t, "full = true", "padded = true", "vocabulary = 257", fmt.Sprintf("classes = %d", classes),
		fmt.Sprintf("task = %q", map[string]string{"text": "text-label", "word": "token-label"}[task]))
	j.section("data")
	j.set("kind", j.quote("csv"))
	j.set("path", j.quote(path))
	j.set("context", 16)
	j.set("text_column", j.quote("words"))
	j.set("label_column", j.quote("tag"))
	j.set("label_each", j.quote(task))
	j.splits()
	return []string{"none", "deepen:blocks.0", "deepen:blocks.1", "none", "deepen:blocks.0", "deepen:blocks.1"}
}

// events returns an up, followed by a down in half of the jobs.
func (j *randomJob) events() string {
	up := 30 + j.IntN(100)
	text := fmt.Sprintf(`{at = "%dms", change = "up", devices = %d}`, up, 3+j.IntN(3))
	if j.toss() {
		text += fmt.Sprintf(`, {at = "%dms", change = "down", devices = 1}`, up+1+j.IntN(160))
	}
	return "[" + text + "]"
}

func (j *randomJob) training() {
	batch, adaptive := 8+j.IntN(30), j.IntN(3) == 0
	j.section("train")
	j.set("batch", batch)
	j.maybe("micro_batch", 2+j.IntN(batch))
	j.maybe("eval_batch", 5+j.IntN(60))
	j.maybe("epochs", 2+j.IntN(9))
	j.maybe("max_memory_mb", 1+j.IntN(3))
	for _, key := range []string{"exact", "abandon", "overrun", "keep_best", "steady"} {
		j.maybe(key, true)
	}
	if !j.graph && j.IntN(8) == 0 {
		j.set("precision", j.quote("bfloat16"))
	}
	j.maybe("label_smoothing", 0.1)
	j.maybe("ema", j.pick(0.5, 0.9))
	j.optimizer()
	j.schedule()
	j.section("distill")
	j.maybe("temperature", 2+j.IntN(4))
	j.maybe("share", 0.5)
	j.maybe("decay", 0.2)
	j.maybe("span", j.pick(0.2, 0.5))
	if j.IntN(4) == 0 {
		j.set("off", true)
	}
	if adaptive && !j.mixup { // parts of a batch depend on each other with mixup
		j.adaptiveBatch(batch)
	}
}

func (j *randomJob) optimizer() {
	j.section("optimizer")
	j.set("lr", j.pick(0.001, 0.003, 0.01))
	if j.toss() {
		j.set("rule", j.quote("sgd"))
		if j.toss() {
			j.set("momentum", 0.9)
			j.set(j.pick("nesterov = true #", "dampening").(string), 0.1)
		}
	} else {
		j.maybe("rule", j.pick(`"adam"`, `"adamw"`))
		j.maybe("beta1", 0.8)
		j.maybe("beta2", 0.99)
		j.maybe("eps", 1e-6)
	}
	j.maybe("weight_decay", 0.01)
	j.maybe(j.pick("clip_norm", "clip_value").(string), 0.5)
}

func (j *randomJob) schedule() {
	j.section("schedule")
	rule := j.pick("cosine", "linear", "exponential", "step", "constant", "wsd").(string)
	j.set("rule", j.quote(rule))
	if rule == "wsd" {
		j.maybe("decay_share", 0.4)
	}
	j.maybe("decay", 0.7)
	j.maybe("every", 1+j.IntN(3))
	j.maybe("min_lr", 1e-5)
	if j.toss() {
		j.maybe("warm_up", 1+j.IntN(20))
	} else {
		j.maybe("warm_up_share", 0.2)
	}
	j.maybe("restart", j.pick(`"devices"`, `"surgery"`, `"never"`))
}

func (j *randomJob) adaptiveBatch(batch int) {
	j.section("adaptive_batch")
	if j.toss() {
		j.set("measure", true)
	} else {
		j.set("on", true)
		j.set("max_batch", 4*batch)
		j.maybe("max_device_batch", 2*batch)
		j.maybe("every", 1+j.IntN(2))
		j.maybe("hysteresis", 0.01)
		j.maybe("scaling", j.pick(`"adascale"`, `"square-root"`, `"linear"`, `"none"`))
	}
	j.maybe("interval", 1+j.IntN(9))
}

func (j *randomJob) adapting(actions []string) {
	j.section("adapt")
	kind := j.pick("script", "random", "fixed", "trials").(string)
	j.set("decider", j.quote(kind))
	picked := fmt.Sprintf("%q", actions[len(actions)-1-j.IntN(len(actions)-3)])
	decisions := 1
	if kind != "fixed" {
		for range 1 + j.IntN(2) { // no size is reached twice
			picked += fmt.Sprintf(", %q", actions[j.IntN(4)])
			decisions++
		}
	}
	j.set("actions", "["+picked+"]")
	if kind == "trials" {
		j.set("trial_steps", 1+j.IntN(3))
	}
	switch j.IntN(6) {
	case 0, 1, 2:
		j.set("each_epoch", true)
		j.set("max_decisions", decisions)
	case 3:
		j.set("when", `"share"`)
		j.set("at", "[0.2, 0.6]")
	case 4:
		j.set("when", `"periodic"`)
		j.set("interval", 0.3)
	case 5:
		j.set("when", `"plateau"`)
		j.set("window", 1+j.IntN(2))
		j.set("min_gain", j.pick(1, 5, 100))
	}
	j.maybe("rows", 2+j.IntN(60))
	if j.toss() {
		j.maybe("reset", true)
	} else {
		j.maybe("moments", j.pick(`"reset-new"`, `"reset"`))
	}
	j.maybe("warm_up_new", 1+j.IntN(9))
	j.maybe("divide", 2)
	if j.graph {
		j.maybe("split", j.pick(`"shares"`, `"equal"`, `"partition"`))
		j.maybe("form", j.pick(`"residual"`, `"opposite"`, `"stacked"`))
	} else {
		j.maybe("noise", 0.05)
		j.maybe("split", j.pick(`"equal"`, `"partition"`))
		j.maybe("form", j.pick(map[bool]any{true: `"identity"`,
			false: `"residual"`}[strings.Contains(j.activation, "ReLU") && !j.grouped], `"residual"`))
	}
	j.section("run")
	j.set("seed", 1+j.IntN(100))
}
