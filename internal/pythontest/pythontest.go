// Package pythontest finds a Python for tests that compare with Python libraries.
package pythontest

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// tried caches whether a Python can import a module, by path and module. Importing PyTorch takes a second.
var tried sync.Map

// Find returns the path of a Python interpreter that can import a module, such as torch. It tries the interpreter that
// GRAFT_PYTHON names, then /usr/bin/python3. If neither can import the module, the test is skipped.
func Find(t testing.TB, module string) string {
	t.Helper()
	for _, path := range []string{os.Getenv("GRAFT_PYTHON"), "/usr/bin/python3"} {
		if path != "" && imports(path, module) {
			return path
		}
	}
	t.Skipf("left out: no Python can import %s; install it for /usr/bin/python3, or name a Python in GRAFT_PYTHON",
		module)
	return ""
}

func imports(path, module string) bool {
	once, _ := tried.LoadOrStore([2]string{path, module}, sync.OnceValue(func() bool {
		return exec.Command(path, "-W", "ignore", "-c", "import "+module).Run() == nil
	}))
	return once.(func() bool)()
}
