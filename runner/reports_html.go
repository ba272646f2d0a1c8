package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"graft/files"
	"graft/results/page"
)

// writePage writes runs as a page into a file, and says so.
func writePage(w io.Writer, runs []*runData, skipped []skippedRun, o reportOptions) error {
	p, r, err := pageOf(runs, skipped, o.all, "--all", thisVersion())
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return r.err()
	}
	if err := mayReplace(files.OS{}, o.html, o.force); err != nil {
		return err
	}
	var size int64
	err = files.WriteAtomic(files.OS{}, o.html, func(w io.Writer) error {
		c := &counting{w: w}
		defer func() { size = c.bytes }()
		return p.Render(c)
	})
	if err != nil {
		return fmt.Errorf("report --html: %w", err)
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s, %s, %d kB\n", printable(o.html), counted(len(runs), "run"), counted(figuresIn(p), "figure"), (size+999)/1000)
	return errors.Join(err, r.err())
}

func figuresIn(p *page.Page) (n int) {
	for _, s := range p.Sections {
		for _, part := range s.Parts {
			n += len(part.Figures)
		}
	}
	return n
}

// headBytes are as many as tell a page of graft's.
const headBytes = 1024

// mayReplace says why a file must not be written over, if it must not.
func mayReplace(fsys files.FS, path string, force bool) error {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("report --html: %w", err)
	case !info.Mode().IsRegular():
		return withCode(exitUsage, fmt.Errorf("report --html: %s is no file; name one, such as %s", path, "report.html"))
	case force:
		return nil
	}
	file, err := fsys.Open(path)
	if err != nil {
		return fmt.Errorf("report --html: %w", err)
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headBytes))
	if err != nil {
		return fmt.Errorf("report --html: %w", err)
	}
	if !page.IsPage(head) {
		return withCode(exitUsage, fmt.Errorf("report --html: %s is there and no page of graft's; name another file, or write over it with --force", path))
	}
	return nil
}
