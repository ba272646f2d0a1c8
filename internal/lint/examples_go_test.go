package lint

import "strings"

var roomExamples = map[string]example{
	"a room imports one right below":       {"tracing/a.go", `import _ "graft/model"`, nil},
	"a room imports one far below":         {"decider/a.go", `import _ "graft/torch"`, nil},
	"any room imports a common one":        {"results/a.go", `import _ "graft/internal/files"`, nil},
	"a subpackage belongs to its room":     {"torch/weights/a.go", `import _ "graft/torch/pickle"`, nil},
	"a room imports a subpackage below":    {"trainer/a.go", `import _ "graft/torch/weights"`, nil},
	"the measurements import a room":       {"bench/a.go", `import _ "graft/simulation"`, nil},
	"the command line imports a room":      {"runner/a.go", `import _ "graft/config"`, nil},
	"a room imports another module":        {"results/a.go", `import _ "example.com/model"`, nil},
	"a room imports one above":             {"model/a.go", `import _ "graft/tracing"`, []int{3}},
	"a room imports one beside":            {"cluster/a.go", `import _ "graft/torch"`, []int{3}},
	"a subpackage of its own row":          {"report/page/a.go", `import _ "graft/report/document"`, nil},
	"one room of a folder imports another": {"results/figure/a.go", `import _ "graft/report/page"`, []int{3}},
	"the base imports what stands on it":   {"results/a.go", `import _ "graft/report"`, []int{3}},
	"what came out stands on worlds":       {"report/runs/a.go", `import _ "graft/cluster"`, nil},
	"a world imports a scheduler of its":   {"cluster/a.go", `import _ "graft/cluster/schedulers"`, []int{3}},
	"its test does":                        {"cluster/a_test.go", `import _ "graft/cluster/schedulers"`, nil},
	"a subpackage without a row":           {"tracing/drawing/a.go", `import _ "graft/model"`, nil},
	"the engine of config is below it":     {"internal/decode/a.go", `import _ "graft/config"`, []int{3}},
	"statistics import no files":           {"internal/stat/a.go", `import _ "graft/internal/files"`, []int{3}},
	"a subpackage imports one above":       {"torch/weights/a.go", `import _ "graft/model"`, []int{3}},
	"a test imports one above":             {"net2net/a_test.go", `import _ "graft/trainer"`, []int{3}},
	"a common room imports one":            {"internal/files/a.go", `import _ "graft/torch"`, []int{3}},
	"a room imports the linter":            {"runner/a.go", `import _ "graft/internal/lint"`, []int{3}},
	"a room imports the measurements":      {"runner/a.go", `import _ "graft/bench"`, []int{3}},
	"the measurements import the commands": {"bench/a.go", `import _ "graft/runner"`, []int{3}},
	"a package outside of the table":       {"utils/a.go", ``, []int{1}},
	"a package at the root":                {"a.go", `package graft`, []int{1}},
}

var doorExamples = map[string]example{
	"cgo at the door":             {"torch/a.go", `import "C"`, nil},
	"gotorch at the door":         {"torch/a.go", `import _ "github.com/wangkuiyi/gotorch"`, nil},
	"another binding's name":      {"model/a.go", `import _ "github.com/wangkuiyi/gotorchvision"`, nil},
	"cgo in a room":               {"model/a.go", `import "C"`, []int{3}},
	"cgo in a subpackage":         {"torch/weights/a.go", `import "C"`, []int{3}},
	"gotorch in a room":           {"dataset/a.go", `import _ "github.com/wangkuiyi/gotorch"`, []int{3}},
	"a package of gotorch":        {"dataset/a.go", `import nn "github.com/wangkuiyi/gotorch/nn"`, []int{3}},
	"gotorch in the measurements": {"bench/a.go", `import _ "github.com/wangkuiyi/gotorch"`, []int{3}},
	"NVML at its door":            {"internal/telemetry/a.go", `import _ "github.com/NVIDIA/go-nvml/pkg/nvml"`, nil},
	"NVML elsewhere":              {"runner/train/a.go", `import _ "github.com/NVIDIA/go-nvml/pkg/nvml"`, []int{3}},
}

var handedInExamples = map[string]example{
	"durations are only numbers": {"trainer/a.go", "import \"time\"\n\nvar d = 3 * time.Second", nil},
	"a seeded stream": {"trainer/a.go",
		"import \"math/rand/v2\"\n\nvar r = rand.New(rand.NewPCG(1, 2))", nil},
	"a writer that is handed in": {"results/a.go",
		"import (\n\t\"fmt\"\n\t\"io\"\n)\n\nfunc f(w io.Writer) { fmt.Fprintln(w) }", nil},
	"a name that only looks banned": {"results/a.go",
		"type clock struct{}\n\nfunc (clock) Now() {}\n\nvar time clock\n\nfunc f() { time.Now() }", nil},
	"the program prints and exits": {"runner/a.go",
		"package main\n\nimport \"os\"\n\nfunc main() { os.Exit(len(os.Stdout.Name())) }", nil},
	"a measurement reads the clock": {"bench/a.go", "package main\n\nimport \"time\"\n\nvar n = time.Now()", nil},
	"a test reads the clock":        {"trainer/a_test.go", "import \"time\"\n\nvar n = time.Now()", nil},
	"TestMain exits": {"trainer/a_test.go",
		"import (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }", nil},
	"a room reads the clock": {"trainer/a.go", "import \"time\"\n\nvar n = time.Now()", []int{5}},
	"a room keeps the clock": {"trainer/a.go", "import \"time\"\n\nvar now = time.Now", []int{5}},
	"under another name":     {"trainer/a.go", "import clock \"time\"\n\nvar n = clock.Since", []int{5}},
	"a room waits": {"trainer/a.go",
		"import \"time\"\n\nfunc f() {\n\ttime.Sleep(1)\n\t<-time.After(1)\n\t_ = time.Tick\n}", []int{6, 7, 8}},
	"a dot import":                 {"trainer/a.go", "import . \"time\"\n\nvar n = Now()", []int{3}},
	"global randomness":            {"dataset/a.go", "import \"math/rand\"\n\nvar n = rand.Intn(3)", []int{5}},
	"global randomness, second go": {"dataset/a.go", "import \"math/rand/v2\"\n\nvar n = rand.IntN(3)", []int{5}},
	"a room exits":                 {"results/a.go", "import \"os\"\n\nfunc f() { os.Exit(1) }", []int{5}},
	"a room ends by its log":       {"results/a.go", "import \"log\"\n\nfunc f() { log.Fatalf(\"no\") }", []int{5}},
	"a room prints": {"results/a.go",
		"import \"fmt\"\n\nfunc f() {\n\tfmt.Println()\n\tfmt.Printf(\"\")\n\tfmt.Print()\n}", []int{6, 7, 8}},
	"a room writes to stdout": {"results/a.go", "import \"os\"\n\nvar w = os.Stdout", []int{5}},
	"a room writes to stderr": {"results/a.go", "import \"os\"\n\nvar w = os.Stderr", []int{5}},
	"a program in a room": {"torch/tool/a.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }",
		[]int{5}},
	"a package beside the program": {"runner/sub/a.go", "import \"os\"\n\nvar w = os.Stdout", []int{5}},
	"a test exits outside of TestMain": {"trainer/a_test.go", "import \"os\"\n\nfunc helper() { os.Exit(1) }",
		[]int{5}},
}

// lines returns a function body of n lines.
func lines(n int) string { return strings.Repeat("\tf()\n", n) }

var seamExamples = map[string]example{
	"a seam that is handed in": {"results/a.go",
		"import \"graft/internal/files\"\n\nfunc f(fsys files.FS) { _, _ = fsys.Open(\"a\") }", nil},
	"what is no file of os": {"results/a.go",
		"import \"os\"\n\nvar id, host, env = os.Getpid, os.Hostname, os.Environ", nil},
	"names of paths":         {"results/a.go", "import \"path/filepath\"\n\nvar p = filepath.Join(\"a\", \"b\")", nil},
	"the seam itself":        {"internal/files/os.go", "import \"os\"\n\nvar f = os.Open", nil},
	"what finds the library": {"torch/find.go", "import \"os\"\n\nvar f = os.Stat", nil},
	"the program makes the seam": {"runner/a.go",
		"package main\n\nimport \"graft/internal/files\"\n\nvar f = files.OS{}", nil},
	"a measurement writes files": {"bench/a.go", "package main\n\nimport \"os\"\n\nvar f = os.WriteFile", nil},
	"a test uses the disk": {"results/a_test.go",
		"import \"graft/internal/files\"\n\nvar f = files.OS{}", nil},
	"helpers of tests use the disk": {"fleet/fleettest/a.go", "import \"os\"\n\nvar f = os.MkdirTemp", nil},
	"a method that is called print": {"results/a.go",
		"type t struct{}\n\nfunc (t) print() {}\n\nfunc f(x t) { x.print() }", nil},
	"a room opens a file":          {"results/a.go", "import \"os\"\n\nvar f = os.OpenFile", []int{5}},
	"a room beside the seam does":  {"internal/files/aside.go", "import \"os\"\n\nvar f = os.Rename", []int{5}},
	"a room walks through folders": {"results/a.go", "import \"path/filepath\"\n\nvar f = filepath.WalkDir", []int{5}},
	"a room makes the seam": {"report/report/a.go", "import \"graft/internal/files\"\n\nvar f = files.OS{}",
		[]int{5}},
	"a package beside the program": {"runner/sub/a.go", "import \"graft/internal/files\"\n\nvar f = files.OS{}",
		[]int{5}},
	"a room draws entropy":           {"fleet/a.go", "import \"crypto/rand\"\n\nvar f = rand.Reader", []int{5}},
	"a room reads the terminal":      {"results/a.go", "import \"os\"\n\nvar f = os.Stdin", []int{5}},
	"a room prints by a builtin":     {"results/a.go", "func f() { println(1) }", []int{3}},
	"a room hides the system's file": {"results/a.go", "import . \"os\"\n\nvar f = Open", []int{3}},
}

var flagExamples = map[string]example{
	"an option": {"runner/app/a.go",
		"import \"errors\"\n\nvar err = errors.New(\"move it aside with option force\")", nil},
	"a command in quotes": {"runner/app/a.go",
		"import \"errors\"\n\nvar err = errors.New(\"go on with 'graft learn --resume'\")", nil},
	"another's option": {"fleet/a.go", "import \"fmt\"\n\nvar err = fmt.Errorf(\"%q is not --name=value\", \"\")", nil},
	"the program's error": {"runner/a.go",
		"package main\n\nimport \"errors\"\n\nvar err = errors.New(\"add --compat\")", nil},
	"a flag": {"runner/app/a.go", "import \"errors\"\n\nvar err = errors.New(\"move it aside with --force\")",
		[]int{5}},
	"a flag at first": {"runner/app/a.go", "import \"fmt\"\n\nvar err = fmt.Errorf(\"--leave-out is %q\", \"\")",
		[]int{5}},
}

var longFunctionExamples = map[string]example{
	"a hundred lines":        {"model/a.go", "func f() {\n" + lines(98) + "}\n", nil},
	"a hundred and one":      {"model/a.go", "func f() {\n" + lines(99) + "}\n", []int{3}},
	"a long test":            {"model/a_test.go", "func f() {\n" + lines(99) + "}\n", []int{3}},
	"a variable's function":  {"model/a.go", "var v = func() {\n" + lines(99) + "}\n", []int{3}},
	"a long table":           {"model/a.go", "var v = []func(){\n" + strings.Repeat("\tf,\n", 200) + "}\n", nil},
	"a hundred lines of C++": {"torch/csrc/a.cc", "namespace {\nint f(int x) {\n" + lines(98) + "}\n}\n", nil},
	"a hundred and one, C++": {"torch/csrc/a.cc", "namespace {\n\nint f(int x)\n{\n" + lines(98) + "}\n}\n", []int{3}},
	"behind extern C":        {"torch/csrc/a.cc", "extern \"C\" {\nvoid f() {\n" + lines(99) + "}\n}\n", []int{2}},
	"a long method": {"torch/csrc/a.h", "struct s {\n  int n;\n  void f() const {\n" + lines(99) + "}\n};\n",
		[]int{3}},
	"blocks inside": {"torch/csrc/a.cc", "void f() {\n  if (x) {\n  }\n" + lines(99) + "}\n", []int{1}},
	"a long namespace": {"torch/csrc/a.cc",
		"namespace a {\n" + strings.Repeat("int f() { return 1; }\n", 200) + "}\n", nil},
	"a long table of C": {"torch/csrc/a.c", "static int t[] = {\n" + strings.Repeat("  F(1),\n", 200) + "};\n", nil},
	"braces that are no code": {"torch/csrc/a.c", "// {\n/* { */\n#define B {\n" +
		"void f() { puts(\"{\"); c = '{'; n = 1'000; }\n" + strings.Repeat("int x;\n", 200), nil},
}

var documentedExamples = map[string]example{
	"all is documented": {"model/a.go", "// Package model has one job.\npackage model\n\n// T is for it.\n" +
		"type T struct{ Field int }\n\n// M is what T does.\nfunc (T) M() {}\n\n// F makes one.\nfunc F() {}\n\n" +
		"// The limits.\nconst (\n\tA = 1\n\tB = 2\n)\n\nvar C = 3 // C is said here.\n", nil},
	"names that are not exported": {"model/a.go", "// Package model has one job.\npackage model\n\n" +
		"type t struct{}\n\nfunc (t) M() {}\n\nfunc f() {}\n\nvar v int\n", nil},
	"options with every field said": {"model/a.go",
		"// Package model has one job.\npackage model\n\n// Options are chosen.\ntype Options struct {\n" +
			"\t// Rate per second; zero is 1.\n\tRate float64\n\tn    int // zero is none\n}\n", nil},
	"a test":                    {"model/a_test.go", "func Exported() {}", nil},
	"a package":                 {"model/a.go", "var v int", []int{1}},
	"a directive is no comment": {"model/a.go", "//go:build linux\npackage model\n", []int{2}},
	"a type": {"model/a.go", "// Package model has one job.\npackage model\n\ntype T int\n",
		[]int{4}},
	"a type in a group that is said": {"model/a.go", "// Package model has one job.\npackage model\n\n// Two types.\n" +
		"type (\n\tT int\n\tU int // U is said.\n)\n", []int{6}},
	"a function": {"model/a.go", "// Package model has one job.\npackage model\n\nfunc F() {}\n", []int{4}},
	"a method": {"model/a.go", "// Package model has one job.\npackage model\n\n// T is.\ntype T[P any] struct{}\n\n" +
		"func (t *T[P]) M() {}\n", []int{7}},
	"a constant and a variable": {"model/a.go",
		"// Package model has one job.\npackage model\n\nconst (\n\tA = 1\n\tb = 2\n)\n\nvar V int\n", []int{5, 9}},
	"a field of options": {"model/a.go",
		"// Package model has one job.\npackage model\n\n// TrainOptions are chosen.\ntype TrainOptions struct {\n" +
			"\tRate float64\n}\n\n// RunConfig is read.\ntype RunConfig struct {\n\tname string\n}\n", []int{6, 11}},
	"an interface of one method": {"model/a.go", "// Package model has one job.\npackage model\n\n" +
		"// I is met by what can do M.\ntype I interface{ M() }\n", nil},
	"a method of an exported interface": {"model/a.go", "// Package model has one job.\npackage model\n\n" +
		"// I is met.\ntype I interface {\n\tM()\n\tn()\n}\n", []int{6}},
}

var gofmtExamples = map[string]example{
	"formatted":       {"model/a.go", "package model\n\nvar a = 1\n", nil},
	"not a Go file":   {"model/a.txt", "var a=1", nil},
	"not formatted":   {"model/a.go", "package model\n\nvar a=1\n", []int{3}},
	"does not parse":  {"model/a.go", "package model\n\nfunc {\n", []int{0}},
	"no end of line":  {"model/a.go", "package model\n\nvar a = 1", []int{3}},
	"a test likewise": {"model/a_test.go", "package model\n  var a = 1\n", []int{2}},
}

// wide returns a comment with the given number of columns.
func wide(columns int) string { return "// " + strings.Repeat("é", columns-3) + "\n" }

var longLineExamples = map[string]example{
	"120 columns":                  {"model/a.go", wide(120), nil},
	"121 columns":                  {"model/a.go", wide(121), []int{3}},
	"in a test":                    {"model/a_test.go", "\n" + wide(121), []int{4}},
	"tabs count as four":           {"model/a.go", "func f() {\n\t" + wide(116) + "\t" + wide(117) + "}\n", []int{5}},
	"a text of several lines":      {"model/a.go", "const a = `a\n" + wide(200) + "`\n", nil},
	"code in front of a text":      {"model/a.go", "const " + strings.Repeat("a", 120) + " = `a\nb`\n", []int{3}},
	"code behind a text":           {"model/a.go", "const a = `a\n" + wide(200) + "` " + wide(121), []int{5}},
	"a raw text of one line":       {"model/a.go", "const a = `" + strings.Repeat("a", 120) + "`\n", []int{3}},
	"prose is not measured":        {"docs/a.md", strings.Repeat("word ", 100), nil},
	"other languages are not Go's": {"torch/csrc/a.cc", wide(200), nil},
}
