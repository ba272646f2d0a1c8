package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference is a page about the keys of all kinds of files, in Markdown: a table for
// each section, with types, defaults and what the comments in the code say.
func Reference() string {
	j, m, l, t, p := NewJob(), NewSimulation(), NewLearning(), NewTreeLearning(ForKnown), NewPipeline(ForKnown)
	j.EnsureDefaults()
	m.EnsureDefaults()
	l.EnsureDefaults()
	t.EnsureDefaults()
	p.EnsureDefaults()
	var b strings.Builder
	b.WriteString("# Keys of a job's file\n\n" +
		"A job's file is TOML; what it does not say has its default. `graft config show --describe`\n" +
		"prints all of it as a file, `graft config check` tells what is wrong in one. A time is a\n" +
		"text such as `\"1m30s\"`, or a number of seconds. This page is `graft config schema --markdown`.\n" +
		"A [scenario's](#keys-of-a-scenarios-file) has two sections more; a\n" +
		"[pipeline's](#keys-of-a-pipelines-file) leads from scenarios to a policy.\n" +
		"[Structural policies](#keys-of-the-file-of-structural-policies-that-learn) and\n" +
		"[the original's](#keys-of-the-file-of-a-policy-of-the-originals-that-learns) learn from files of their own.\n")
	referTables(&b, jobOutline, reflect.ValueOf(j).Elem())
	b.WriteString("\n# Keys of a scenario's file\n\n" +
		"A file with the section `simulate`, for `graft simulate`: that of a job whose decisions are\n" +
		"tried, with all sections of a job's. See [simulations](simulate.md).\n")
	for _, name := range []string{"simulate", "fleet"} {
		section, _ := simulationOutline.lookUp(name)
		referTable(&b, "["+name+"]", section, reflect.ValueOf(m).Elem())
	}
	b.WriteString("\n# Keys of the file of structural policies that learn\n\n" +
		"A file with the section `tables`, for `graft learn`: see [how a policy learns](learning.md).\n")
	referTables(&b, treeLearningOutline, reflect.ValueOf(t).Elem())
	b.WriteString("\n# Keys of a pipeline's file\n\n" +
		"A file with the section `pipeline`, for `graft pipeline`. See [from scenarios to a policy](simulate.md#from-scenarios-to-a-policy).\n" +
		"It has the sections `run`, `policy` and `learn` of structural policies that learn, but for\n`run.folder`, and these.\n")
	for _, name := range []string{"pipeline", "evaluate"} {
		section, _ := pipelineOutline.lookUp(name)
		referTable(&b, "["+name+"]", section, reflect.ValueOf(p).Elem())
	}
	c := &Cluster{}
	c.EnsureDefaults()
	b.WriteString("\n# Keys of the file of simulations of a cluster\n\n" +
		"A file with the section `cluster`, for `graft cluster run`. See [the cluster](cluster.md).\n")
	referTables(&b, clusterOutline, reflect.ValueOf(c).Elem())
	b.WriteString("\n# Keys of the file of a policy of the original's that learns\n\n" +
		"A file with the section `table`, for `graft learn`.\n")
	referTables(&b, learningOutline, reflect.ValueOf(l).Elem())
	return b.String()
}

// referTables describes the tables in a table, each with those in it.
func referTables(b *strings.Builder, o *outline, v reflect.Value) {
	for _, f := range o.fields {
		if f.isTable() {
			referTable(b, "["+f.name()+"]", f, v)
			referTables(b, f, v)
		}
	}
}

// referTable describes the values of a table; v holds defaults, and is not valid where
// there are none.
func referTable(b *strings.Builder, title string, o *outline, v reflect.Value) {
	fmt.Fprintf(b, "\n## `%s`\n\n", title)
	if about := o.about(); about != "" {
		b.WriteString(about + "\n\n")
	}
	b.WriteString("| key | type | default | meaning |\n| --- | --- | --- | --- |\n")
	var lists []*outline
	for _, f := range o.fields {
		if f.isTable() {
			continue
		}
		first := ""
		if v.IsValid() {
			first = code(oneLine(plain(v.FieldByIndex(f.index))))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.key, cell(typeText(f, f.typ)), first, cell(f.about()))
		if f.items() != nil {
			lists = append(lists, f)
		}
	}
	for _, f := range lists {
		referTable(b, "each of "+f.name(), f.items(), reflect.Value{})
	}
}

// typeText says in words what a key takes.
func typeText(o *outline, t reflect.Type) string {
	switch {
	case t == durationType:
		return "time"
	case o.items() != nil && t.Kind() == reflect.Slice:
		return "list of tables"
	case t.Kind() == reflect.Slice:
		return "list of: " + typeText(o, t.Elem())
	case o.words != nil:
		var list []string
		for _, word := range o.words {
			list = append(list, code(quoteTOML(word)))
		}
		return strings.Join(list, ", ")
	case isText(t) || t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "`true` or `false`"
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return "number"
	}
	return "whole number"
}

// code is a text as it is written in a file.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// cell keeps a text in its cell.
func cell(text string) string { return strings.ReplaceAll(text, "\n", " ") }
