package simulation_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/simulation/treetest"
)

// unread lists fields that no learner and no evaluation reads, and fields that other fields determine.
var unread = map[string]bool{
	"Record.Profile": true, "Record.Graft": true, "Record.LibTorch": true, // provenance
	"Scenario.Origin": true, // its fields are changed in TestATreeOfATableThatKnows
	"State.Network":   true, // the structure describes it
	"State.StepOf":    true, // set in jobs, not in tables
	"State.Try":       true,
	"State.Gain":      true,
	"Situation.State": true, // their fields are changed one by one
	"Node.Situation":  true,
	// changed below, because trees share them
	"Observation.Structure": true, "Structure.Tokens": true, "Structure.Before": true, "Structure.After": true,
}

// Every field that learning or evaluation reads changes the digest of a tree.
func TestEveryFieldIsInTheDigestOfATree(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	before := tree.Digest()
	last := len(tree.Nodes) - 1
	for _, of := range []any{&tree.Scenario, &tree.Records[0], &tree.Nodes[last], &tree.Nodes[last].Situation,
		&tree.Nodes[last].State, &tree.Nodes[last].State.Curve, tree.Nodes[last].Observation,
		&tree.Nodes[last].Choices[0], tree.Nodes[last].Structure, &tree.Nodes[last].Structure.Tokens[0]} {
		v := reflect.ValueOf(of).Elem()
		for k := range v.NumField() {
			name := v.Type().Name() + "." + v.Type().Field(k).Name
			if unread[name] || !v.Type().Field(k).IsExported() || v.Type().Field(k).Anonymous {
				continue
			}
			was := reflect.New(v.Field(k).Type()).Elem()
			was.Set(v.Field(k))
			change(t, name, v.Field(k))
			require.NotEqual(t, before, tree.Digest(), name)
			v.Field(k).Set(was)
			require.Equal(t, before, tree.Digest(), name)
		}
	}
	edges := tree.Nodes[0].Structure
	edges.Before[1] = append(edges.Before[1], 0)
	require.NotEqual(t, before, tree.Digest(), "an edge more")
}

// change gives a field another value.
func change(t *testing.T, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.125)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 1, 1), v))
	case reflect.Struct:
		change(t, name, v.Field(0))
	default:
		require.Failf(t, "a kind of field that the test cannot change", "%s is of %s", name, v.Kind())
	}
}
