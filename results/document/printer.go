package document

import (
	"fmt"
	"io"
)

// Printer writes lines and tables, and keeps the first error.
type Printer struct {
	W   io.Writer
	Err error
}

func (p *Printer) Line(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintf(p.W, format+"\n", args...)
	}
}

func (p *Printer) Table(t *Table) {
	if p.Err == nil {
		p.Err = t.Print(p.W)
	}
}
