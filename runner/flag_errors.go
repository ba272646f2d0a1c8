package main

import (
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/internal/failure"
	"graft/internal/words"
)

// badValue matches the errors of pflag for values that Go's strconv and time packages refuse.
var badValue = regexp.MustCompile(
	`^invalid argument (".*") for "(?:-\w, )?(--[a-z0-9-]+)" flag: (strconv\.(\w+)|time: )`)

// expectedValues holds the values that flags of a type expect, by the function that reads them.
var expectedValues = map[string]string{"ParseInt": "a whole number", "ParseUint": "a whole number, at least 0",
	"Atoi": "whole numbers", "ParseFloat": "a number", "ParseBool": "true or false",
	"": "a time, such as 90s or 1m30s"}

// otherFlags names flags for values that a flag once took.
var otherFlags = map[string]string{"--nodes": "; a file of virtual clusters belongs to --vc-file"}

// unknownFlag matches pflag's error for an unknown flag.
var unknownFlag = regexp.MustCompile(`^unknown flag: --(.+)$`)

// plainFlagError says which value a flag expects, in place of the name of a Go function, and which flag is similar to
// an unknown one.
func plainFlagError(command *cobra.Command, err error) error {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var names []string
		command.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := words.Nearest(m[1], names); near != "" {
			return failure.Usagef("%w; did you mean --%s?", err, near)
		}
		if command.Flags().Lookup("set") != nil {
			return failure.Usagef("%w; a key of the file is set with --set KEY=VALUE", err)
		}
	}
	m := badValue.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return failure.Usagef("%s is %s; expected %s%s", m[2], m[1], expectedValues[m[4]], otherFlags[m[2]])
}

// refuseZero returns an error if one of the flags is given as 0, which options take for their default.
func refuseZero(command *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := command.Flags().Lookup(name); f.Changed && f.Value.String() == "0" {
			return failure.Usagef("--%s is 0; expected more than 0; omit it for the default %s", name, f.DefValue)
		}
	}
	return nil
}
