package document

import (
	"fmt"
	"io"
)

// Printer writes lines and tables to W. It stores the first error and then writes nothing more.
type Printer struct {
	W   io.Writer
	Err error
}

// Line formats a line like fmt.Fprintf and writes it with a line break.
func (p *Printer) Line(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintf(p.W, format+"\n", args...)
	}
}

// Table writes a table with aligned columns.
func (p *Printer) Table(t *Table) {
	if p.Err == nil {
		p.Err = t.Print(p.W)
	}
}
