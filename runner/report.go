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
		// If stderr fails there is no way to report it; the exit code still shows the failure.
		_ = document.PrintJSON(stderr, map[string]errorReport{"error": f})
		return
	}
	fmt.Fprintf(stderr, "graft: %s\n", message)
	if code == failure.Usage {
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", command.CommandPath())
	}
}

// optionName matches an option, with or without quotes, in errors of the libraries.
var optionName = regexp.MustCompile(`\boption (?:"[a-z][a-z-]*"|[a-z][a-z-]*)`)

// keyOption matches the option that sets a key, after the key.
var keyOption = regexp.MustCompile(` \(option ([a-z][a-z-]*)\)`)

// withFlags replaces the options in an error by the flags of the command. It removes the option of a key if the command
// has no such flag.
func withFlags(command *cobra.Command, text string) string {
	text = keyOption.ReplaceAllStringFunc(text, func(option string) string {
		if command.Flags().Lookup(keyOption.FindStringSubmatch(option)[1]) == nil {
			return ""
		}
		return option
	})
	return optionName.ReplaceAllStringFunc(text, func(option string) string {
		name := strings.Trim(strings.TrimPrefix(option, "option "), `"`)
		if command.Flags().Lookup(name) == nil {
			return option
		}
		return "--" + name
	})
}

// wantsJSON reports whether the failed command was asked for JSON. It also reads the arguments, because a flag that
// cannot be parsed hides the flags after it.
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
