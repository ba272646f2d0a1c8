package pt2

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFaultsOfArchivesAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"no archive":      {func(r map[string]string) { delete(r, "archive_format") }, "no archive_format"},
		"another version": {func(r map[string]string) { r["archive_version"] = "1" }, "archive_version"},
		"an offset that overflows": {func(r map[string]string) {
			const list = "data/weights/model_weights_config.json"
			r[list] = strings.Replace(r[list], `"storage_offset": {"as_int": 0}`,
				`"storage_offset": {"as_int": 9223372036854775807}`, 1)
		}, "offset 9223372036854775807"},
		"two programs": {func(r map[string]string) { r["models/other.json"] = "{}" }, "2 programs"},
		"weights as no file of torch.save": {func(r map[string]string) {
			r["data/weights/model.pt"] = "not one"
			delete(r, "data/weights/model_weights_config.json")
		}, "the weights:"},
		"weights without one that the graph reads": {func(r map[string]string) {
			r["data/weights/model.pt"] = savedText()
			delete(r, "data/weights/model_weights_config.json")
		}, `"fc.weight": the tensor is missing from the file`},
		"a view of what changed": {swap(`"self", "arg": {"as_tensor": {"name": "view"}}`,
			`"self", "arg": {"as_tensor": {"name": "w"}}`, `{"target": "torch.ops.aten.relu_.default"`, `{"target": `+
				`"torch.ops.aten.flatten.using_ints", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": `+
				`"linear"}}}], "outputs": [{"as_tensor": {"name": "w"}}]}, {"target": "torch.ops.aten.relu_.default"`),
			"in place"},
		"a buffer that changes": {swap(`"self", "arg": {"as_tensor": {"name": "linear"}}`,
			`"self", "arg": {"as_tensor": {"name": "b_shift"}}`), "modifies the network's tensor"},
		"a tensor of eight bits": {swap(`"dtype": 7, "sizes": [{"as_expr"`, `"dtype": 29, "sizes": [{"as_expr"`),
			"ScalarType 29"},
		"a token":   {swap(`{"user_input"`, `{"token"`), "kind \"token\""},
		"no output": {swap(`{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}`, ``), "returns no tensor"},
		"a description of modules that is none": {func(r map[string]string) {
			r["extra/graft_modules.json"] = `{"modules": []}`
		}, "the network itself"},
	} {
		records := sampleRecords()
		c.change(records)
		_, err := readBytes(pack(t, records))
		assert.ErrorContains(t, err, c.want, name)
	}
}

// swap returns a change that replaces texts in the program.
func swap(pairs ...string) func(map[string]string) {
	return func(r map[string]string) {
		r["models/model.json"] = strings.NewReplacer(pairs...).Replace(r["models/model.json"])
	}
}

func TestModulesAreThoseOfTheDescription(t *testing.T) {
	records := sampleRecords()
	records["extra/graft_modules.json"] = `{"modules": [{"path": "", "class": "Mine", "extra": "a=1"}, {"path": ` +
		`"fc", "class": "Special", "print": "Special of mine"}]}`
	net, err := readBytes(pack(t, records))
	require.NoError(t, err)
	assert.Equal(t, "Mine(\n  a=1\n  (fc): Special of mine\n)", net.Graph.String())
	assert.Equal(t, "", net.Graph.Nodes[2].Module, "of a module that is not described")
}

// largestMemory limits the growth of the heap, in bytes. It is far above the need of a small archive, and below a
// machine's memory.
const largestMemory = 1 << 30

func TestMutatedArchivesNeverCrash(t *testing.T) {
	mutations := 150
	if os.Getenv("GRAFT_LONG") != "" {
		mutations = 10_000
	}
	seeds := []map[string]string{sampleRecords()}
	for _, path := range referenceArchives() {
		seeds = append(seeds, unpack(t, path))
	}
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	read := 0
	for range mutations {
		records := mutate(random, seeds[random.IntN(len(seeds))])
		runtime.ReadMemStats(&before)
		data := pack(t, records)
		if random.IntN(4) == 0 {
			data[random.IntN(len(data))] ^= byte(1 << random.IntN(8))
		}
		if _, err := readBytes(data); err == nil {
			read++
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(largestMemory))
	}
	t.Logf("%d of %d mutated archives are still networks", read, mutations)
}

// Texts of many short items are refused with bounded memory, wherever they occur.
func TestManyItemsAreRefusedEarly(t *testing.T) {
	long := func(item string, size int) string { return strings.Repeat(item+",", size/(len(item)+1)) + item }
	for _, item := range []string{"1", "{}"} {
		for _, size := range []int{3 << 20, 10 << 20} {
			for name, change := range map[string]func(map[string]string){
				"nodes":  swap(`"nodes": [`, `"nodes": [`+long(item, size)+","),
				"inputs": swap(`"inputs": [`, `"inputs": [`+long(item, size)+","),
				"weights": func(r map[string]string) {
					r["data/weights/model_weights_config.json"] = `{"config": [` + long(item, size) + `]}`
				},
				"modules": func(r map[string]string) {
					r["extra/graft_modules.json"] = `{"modules": [` + long(item, size) + `]}`
				},
			} {
				records := sampleRecords()
				change(records)
				data := pack(t, records)
				before := heapPeak()
				_, err := readBytes(data)
				require.Error(t, err, name)
				require.Less(t, heapPeak()-before, int64(largestMemory), "%s of %s, %d bytes", name, item, size)
			}
		}
	}
}

// heapPeak returns the memory that Go has taken from the system so far, in bytes.
func heapPeak() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys)
}

// referenceArchives returns the paths of PyTorch's archives, or none if the reference is missing.
func referenceArchives() []string {
	paths, _ := filepath.Glob(filepath.Join(reference, "cases", "*.pt2"))
	return paths
}

var scalar = regexp.MustCompile(`"[^"]*"|-?[0-9][0-9.e+-]*|true|false|null`)

// mutate returns the records with random values of the JSON texts replaced.
func mutate(random *rand.Rand, from map[string]string) map[string]string {
	records := map[string]string{}
	for name, text := range from {
		records[name] = text
	}
	names := []string{"models/model.json", "models/model.json", "data/weights/model_weights_config.json",
		"data/constants/model_constants_config.json"}
	for range 1 + random.IntN(3) {
		name := names[random.IntN(len(names))]
		text := records[name]
		places := scalar.FindAllStringIndex(text, -1)
		if len(places) == 0 {
			continue
		}
		at, other := places[random.IntN(len(places))], places[random.IntN(len(places))]
		with := []string{text[other[0]:other[1]], "-1", "0", "9223372036854775807", "4294967296", `""`, "null", "[]",
			"{}", "1e308", "100000", `{"as_int": 5}`}
		records[name] = text[:at[0]] + with[random.IntN(len(with))] + text[at[1]:]
	}
	return records
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, sampleRecords()))
	f.Fuzz(func(t *testing.T, data []byte) {
		net, err := readBytes(data)
		if err == nil {
			require.NoError(t, net.Graph.Check())
		}
	})
}
