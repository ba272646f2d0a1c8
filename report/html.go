package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/page"
)

// CountFigures returns the number of figures on a page.
func CountFigures(p *page.Page) (n int) {
	for _, s := range p.Sections {
		for _, part := range s.Parts {
			n += len(part.Figures)
		}
	}
	return n
}

// headBytes is the length of the prefix that identifies a page made by graft.
const headBytes = 1024

// CheckReplace returns an error if the path is an existing file that graft did not write as a page. If force is true,
// any regular file may be replaced.
func CheckReplace(fsys files.FS, path string, force bool) error {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("report option \"html\": %w", err)
	case !info.Mode().IsRegular():
		return failure.With(failure.Usage, fmt.Errorf(
			"report option \"html\": %s is not a regular file; expected a file name such as %s", path,
			"report.html"))
	case force:
		return nil
	}
	file, err := fsys.Open(path)
	if err != nil {
		return fmt.Errorf("report option \"html\": %w", err)
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headBytes))
	if err != nil {
		return fmt.Errorf("report option \"html\": %w", err)
	}
	if !page.IsPage(head) {
		return failure.With(failure.Usage, fmt.Errorf(
			"report option \"html\": %s already exists and was not written by graft; "+
				"choose another file, or overwrite it with option \"force\"", path))
	}
	return nil
}
