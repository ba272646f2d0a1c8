package lint

var hostExamples = map[string]example{
	"other hosts": {"README.md", "https://go.dev/dl and https://pkg.go.dev and https://github.com/a/b",
		nil},
	"a host that only looks so":   {"a.md", "my-py§pi.org.example is not one, nor is py§pi.orgs", nil},
	"checksums are not our words": {"go.sum", "py§pi.org v1 h1:=", nil},
	"Go's proxy":                  {"Makefile", "GOPROXY=https://proxy.go§lang.org,direct", []int{1}},
	"Go's checksum database":      {"model/a.go", "const a = \"sum.go§lang.org\"", []int{3}},
	"a Python index":              {"a.sh", "\npip install -i https://py§pi.org/simple x", []int{2}},
	"a host below one":            {"a.txt", "files.python§hosted.org/x.whl", []int{1}},
	"at the end of a sentence":    {"a.md", "They come from crates§.io.", []int{1}},
	"in capitals":                 {"a.md", "see REGISTRY.npm§js.org", []int{1}},
	"a mirror of Debian":          {"a.yaml", "deb http://deb.deb§ian.org/debian", []int{1}},
	"a mirror of Maven":           {"a.xml", "https://repo1.mav§en.org/maven2", []int{1}},
	"a place of wheels":           {"a.md", "https://download.py§torch.org/whl", []int{1}},
}

var machinePathExamples = map[string]example{
	"paths of every Linux system": {"a.sh",
		"#!/usr/bin/env sh\ncat /etc/os-release /proc/meminfo >/dev/null; ls /usr/lib /sys", nil},
	"a path from a variable":            {"a.sh", "cd \"$HOME/wo§rk/x\" ${D}/wo§rk $(pwd)/ro§ot", nil},
	"a relative path":                   {"a.md", "see team/wo§rk/a.md, ./wo§rk and ../ro§ot", nil},
	"an address":                        {"a.md", "https://example.com/ho§me/ann", nil},
	"words that go on":                  {"a.md", "/wo§rkers and /ro§oted and /tm§pfs", nil},
	"a test names the temporary folder": {"model/a_test.go", "const a = \"/tm§p/x\"", nil},
	"a place for the reader":            {"a.md", "make test LIBTORCH=/path/to/torch", nil},
	"a folder of one machine":           {"a.md", "\n\nrun it in /wo§rk/main", []int{3}},
	"the folder alone":                  {"a.sh", "cd /wo§rk", []int{1}},
	"the administrator's":               {"model/a.go", "const a = \"/ro§ot/.cache\"", []int{3}},
	"a user's":                          {"a.py", "open('/ho§me/ann/x')", []int{1}},
	"a user's on another system":        {"a.py", "open('/Use§rs/ann/x')", []int{1}},
	"in a test too":                     {"model/a_test.go", "const a = \"/wo§rk/x\"", []int{3}},
	"the temporary folder":              {"a.sh", "x=/tm§p/build y=/var/tm§p", []int{1, 1}},
}

var ticketExamples = map[string]example{
	"the words without a number": {"a.md", "issue a command; one session per job; a ticket", nil},
	"a plural with a number":     {"a.md", "it issues 3 calls", nil},
	"a numbered one":             {"model/a.go", "// see iss§ue 12 for why", []int{3}},
	"with a sign":                {"a.md", "\nfixes Tick§et #4", []int{2}},
	"of a list of work":          {"a.md", "done in sess§ion 3", []int{1}},
	"a path out of the tree":     {"Makefile", "cp ../sha§red/x .", []int{1}},
	"in a test":                  {"model/a_test.go", "const a = \"../sha§red/x\"", nil},
	"a path within the tree":     {"Makefile", "cp shared/x lib/shared/y .", nil},
}

var unfinishedExamples = map[string]example{
	"finished":        {"model/a.go", "// All is done.", nil},
	"parts of words":  {"a.sh", "mktemp -d graft-X§XXXXX; TO§DOS", nil},
	"a mark in Go":    {"model/a.go", "// TO§DO: later", []int{3}},
	"a mark in C":     {"torch/csrc/a.cc", "/* FIX§ME */", []int{1}},
	"a mark in prose": {"a.md", "a\nX§XX b", []int{2}},
	"a skip that says why": {"model/a_test.go",
		"import \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip(\"no PyTorch; install python3-torch\") }", nil},
	"a skip of something else": {"model/a.go", "func f(t reader) { t.Skip() }", nil},
	"a skip without a word": {"model/a_test.go", "import \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip() }",
		[]int{5}},
	"a skip with an empty word": {"model/a_test.go", "import \"testing\"\n\nfunc TestA(t *testing.T) { t.Skip(\"\") }",
		[]int{5}},
	"a skip that cannot say why": {"model/a_test.go", "import \"testing\"\n\nfunc TestA(t *testing.T) { t.SkipNow() }",
		[]int{5}},
	"a benchmark without a word": {"model/a_test.go",
		"import \"testing\"\n\nfunc BenchmarkA(b *testing.B) { b.Skip() }", []int{5}},
	"a conformance suite's skips": {"model/modeltest/a.go", "import \"testing\"\n\nfunc Run(t *testing.T) { t.Skip() }",
		[]int{5}},
}

var clauseExamples = map[string]example{
	"a noun": {"model/a.go", "// limits holds the limits of a job.\nvar limits int", nil},
	"a clause within a comment": {"model/a.go",
		"// limits holds values.\n// limits are what bounds them.\nvar limits int", nil},
	"a noun after the verb":       {"model/a.go", "// Layer is a one-layer network.\ntype Layer int", nil},
	"a clause in place of a noun": {"model/a.go", "// limits are what bounds a job.\nvar limits int", []int{3}},
	"a bare pronoun":              {"model/a_test.go", "// The limits are those of a job.\nvar limits int", []int{3}},
	"a clause beside a field":     {"model/a.go", "type a struct {\n\t// b is where it ends.\n\tb int\n}", []int{4}},
	"one of something":            {"model/a.go", "// Change is one of a network.\ntype Change int", []int{3}},
}

var plainExamples = map[string]example{
	"nouns":                   {"model/a.go", "// Size holds the size of a layer.\nvar Size int", nil},
	"a pronoun for a noun":    {"model/a.go", "// Size is like that of a layer.\nvar Size int", []int{3}},
	"a word for a number":     {"model/a.go", "var size int // take so many", []int{3}},
	"a rare word":             {"model/a.go", "// size is drawn anew.\nvar size int", []int{3}},
	"a test":                  {"model/a_test.go", "// size is drawn anew.\nvar size int", nil},
	"a name":                  {"model/a.go", "var text = \"so many\"", nil},
	"a text":                  {"model/a.go", "var text = \"take so many jobs\"", []int{3}},
	"a page":                  {"docs/a.md", "The job goes on.\n", []int{1}},
	"code of a page":          {"docs/a.md", "```sh\necho it goes on\n```\n", nil},
	"those that do something": {"model/a.go", "// Sizes lists those that fit.\nvar Sizes int", nil},
}
