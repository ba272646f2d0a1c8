package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"graft/internal/files"
	"graft/internal/words"
	"graft/runner/app"
)

// newManCommand makes `graft man`, for packagers.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Hidden: true,
		Short:  "Write a manual page for each command",
		Long: `man writes a manual page for each command, such as graft-train.1, into a folder, which is created
if missing. The manual pages depend only on the version of graft.`,
		Example: "  graft man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runMan(command.OutOrStdout(), args[0])
		},
	}
}

func runMan(w io.Writer, dir string) error {
	if err := (files.OS{}).MkdirAll(dir); err != nil {
		return err
	}
	root := newRootCommand() // a tree that is not executed
	logFlags(root)
	pages := documented(root)
	for _, command := range pages {
		if err := writeManual(dir, command); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "wrote %s into %s\n", words.Plural(len(pages), "page"), dir)
	return err
}

// documented lists the commands that are not hidden.
func documented(root *cobra.Command) (list []*cobra.Command) {
	walk(root, func(command *cobra.Command) {
		if !command.Hidden {
			list = append(list, command)
		}
	})
	return list
}

// writeManual atomically writes the page of a command.
func writeManual(dir string, command *cobra.Command) error {
	page, err := manPage(command)
	if err != nil {
		return fmt.Errorf("write the manual page of %s: %w", command.CommandPath(), err)
	}
	name := strings.ReplaceAll(command.CommandPath(), " ", "-") + ".1"
	return (&app.Env{Files: files.OS{}}).WriteText(filepath.Join(dir, name), string(page))
}

// noDate is the date in the first line of a generated page; the page is written without it.
const noDate = `"Jan 0001"`

// manPage returns the page of a command. It has no date: equal commands have equal pages.
func manPage(command *cobra.Command) ([]byte, error) {
	command.DisableAutoGenTag = true
	command.Long = asMarkdown(command.Long)
	var page bytes.Buffer
	err := doc.GenMan(command, &doc.GenManHeader{Section: "1", Date: new(time.Time), Source: "graft " + thisVersion(),
		Manual: "graft"}, &page)
	text := bytes.ReplaceAll(page.Bytes(), []byte("…"), []byte("...")) // man drops the sign where the locale is POSIX
	return bytes.Replace(text, []byte(noDate), []byte(`""`), 1), err
}

// marked matches characters with a meaning in Markdown.
var marked = regexp.MustCompile("[*_<>`#\\[\\]\\\\]")

// asMarkdown escapes a help text for Markdown. Indented lines become code blocks.
func asMarkdown(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, "  ")
		if indented != inside {
			b.WriteString("\n") // Markdown requires it around code blocks
		}
		if inside = indented; indented {
			line = "    " + line
		} else {
			line = marked.ReplaceAllString(line, `\$0`)
		}
		b.WriteString(line)
	}
	return b.String()
}
