package traces

import (
	"slices"
	"time"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/document"
	"graft/runner/app"
)

// ConvertOptions determines how a trace is read and written.
type ConvertOptions struct {
	Read  trace.Options // options for reading; zero detects the format and keeps all jobs
	To    string        // output format, one of Writable; required
	Force bool          // replaces an existing file; if false, an existing file is an error
}

// Converted describes the result of Convert.
type Converted struct {
	Jobs   int       // number of written jobs
	Format string    // format of the input
	Start  time.Time // date of second zero; the zero time means unknown
	Shared int       // number of jobs with a part of a GPU, which the output format cannot express
}

// Convert reads a trace into memory, sorts its jobs by submission time and writes them atomically to another file. A
// file that ends in .gz is compressed.
func Convert(env *app.Env, in, out string, o ConvertOptions) (*Converted, error) {
	if err := failure.With(failure.Usage, o.Read.Validate()); err != nil {
		return nil, err
	}
	if err := mayConvert(env.Files, in, out, o); err != nil {
		return nil, err
	}
	o.Read.History = true
	all, err := trace.ReadAll(env.Files, in, o.Read)
	if err != nil {
		return nil, Coded(err)
	}
	if err := spotless(in, all.Format, o.Read); err != nil {
		return nil, err
	}
	err = trace.WriteFile(env.Files, out, trace.WriterOptions{Format: o.To, Start: all.Start,
		Columns: trace.ColumnsOf(all.Jobs)}, o.Force, func(t *trace.Writer) error {
		for k := range all.Jobs {
			if err := t.Write(&all.Jobs[k]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Converted{Jobs: len(all.Jobs), Format: all.Format, Start: all.Start, Shared: lost(all.Jobs, o.To)}, nil
}

// mayConvert returns an error, before reading, if the format or file cannot be written.
func mayConvert(fsys files.FS, in, out string, o ConvertOptions) error {
	if err := mayFormat(o.To); err != nil {
		return err
	}
	return app.MayConvert(fsys, in, out, o.Force)
}

// Writable returns the names of the formats that can be written.
func Writable() (names []string) {
	for _, f := range trace.Formats() {
		if f.Writable {
			names = append(names, f.Name)
		}
	}
	return names
}

func mayFormat(format string) error {
	if !slices.Contains(Writable(), format) {
		return failure.Usagef("option \"to\" is %q; expected one of: %s", format, document.SomeOf(Writable(), 8))
	}
	return nil
}

// ownFormat keeps everything about a job.
const ownFormat = "graft"

// lost returns the number of jobs whose share of a GPU a format drops.
func lost(jobs []trace.Job, to string) (n int) {
	if to == ownFormat {
		return 0
	}
	for k := range jobs {
		if jobs[k].Share > 0 {
			n++
		}
	}
	return n
}
