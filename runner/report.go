package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/report/document"
)

// errorReport is the JSON form of an error, printed as {"error": errorReport}.
type errorReport struct {
	Command string       `json:"command"` // the command that failed, as typed: "graft version"
	Kind    string       `json:"kind"`    // the word for Code in the table of exit codes
	Code    failure.Code `json:"code"`    // the exit code of the process
	Message string       `json:"message"` // the error, with its causes
}

// reportError prints an error once, to stderr: stdout has only a command's data. With --json the
// error becomes one object on one line.
func reportError(stderr io.Writer, command *cobra.Command, args []string, code failure.Code, err error) {
	message := withFlags(command, err.Error())
	if wantsJSON(command, args) {
		f := errorReport{Command: command.CommandPath(), Kind: kindOf(code), Code: code, Message: message}
		// A failing stderr leaves nowhere to complain; the exit code still tells.
		_ = document.PrintJSON(stderr, map[string]errorReport{"error": f})
		return
	}
	fmt.Fprintf(stderr, "graft: %s\n", message)
	if code == failure.Usage {
		fmt.Fprintf(stderr, "See '%s --help' for how to call it.\n", command.CommandPath())
	}
}

// optionName is an option as errors of the libraries name it.
var optionName = regexp.MustCompile(`\boption [a-z][a-z-]*`)

// withFlags replaces the options that an error names by the flags of the command.
func withFlags(command *cobra.Command, text string) string {
	return optionName.ReplaceAllStringFunc(text, func(option string) string {
		name := strings.TrimPrefix(option, "option ")
		if command.Flags().Lookup(name) == nil {
			return option
		}
		return "--" + name
	})
}

// wantsJSON says whether the failed command was asked for JSON. The arguments
// are read too, as a flag that could not be parsed hides those after it.
func wantsJSON(command *cobra.Command, args []string) bool {
	flag := command.Flags().Lookup("json")
	if flag == nil {
		return false
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return flag.Value.String() == "true" || !flag.Changed && slices.Contains(args, "--json")
}
