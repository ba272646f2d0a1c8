package config

import (
	"bytes"
	"encoding/json"
	"reflect"

	"graft/model"
)

// durationPattern is what time.ParseDuration reads.
const durationPattern = `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// JobSchema is the JSON Schema (draft 2020-12) of a job's file, for editors and
// other programs. What depends on several keys is checked by ReadJob alone.
func JobSchema() (string, error) {
	j := NewJob()
	j.EnsureDefaults()
	return schemaOf("a job of graft", jobOutline, reflect.ValueOf(j).Elem())
}

// LearningSchema is that of the file of a policy that learns.
func LearningSchema() (string, error) {
	l := NewLearning()
	l.EnsureDefaults()
	return schemaOf("a policy of graft that learns", learningOutline, reflect.ValueOf(l).Elem())
}

// TreeLearningSchema is that of the file of structural policies that learn.
func TreeLearningSchema() (string, error) {
	l := NewTreeLearning(ForKnown)
	l.EnsureDefaults()
	return schemaOf("structural policies of graft that learn", treeLearningOutline, reflect.ValueOf(l).Elem())
}

// SimulationSchema is that of the file of a scenario.
func SimulationSchema() (string, error) {
	m := NewSimulation()
	m.EnsureDefaults()
	return schemaOf("a scenario of graft", simulationOutline, reflect.ValueOf(m).Elem())
}

// ClusterSchema is that of the file of simulations of a cluster.
func ClusterSchema() (string, error) {
	c := &Cluster{}
	c.EnsureDefaults()
	return schemaOf("simulations of a cluster", clusterOutline, reflect.ValueOf(c).Elem())
}

// PipelineSchema is that of the file of a pipeline.
func PipelineSchema() (string, error) {
	p := NewPipeline(ForKnown)
	p.EnsureDefaults()
	return schemaOf("a pipeline of graft", pipelineOutline, reflect.ValueOf(p).Elem())
}

func schemaOf(title string, o *outline, v reflect.Value) (string, error) {
	schema := tableSchema(o, v)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = title
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(schema)
	return b.String(), err
}

// tableSchema describes a table; v holds the defaults, and is not valid where there
// are none.
func tableSchema(o *outline, v reflect.Value) map[string]any {
	properties := map[string]any{}
	for _, f := range o.fields {
		var inner reflect.Value
		if v.IsValid() {
			inner = v.FieldByIndex(f.index)
		}
		if f.isTable() {
			table := tableSchema(f, v)
			table["description"] = f.about()
			properties[f.key] = table
			continue
		}
		schema := valueSchema(f, f.typ)
		schema["description"] = f.about()
		if inner.IsValid() {
			schema["default"] = model.Form{{Value: plain(inner)}}.Plain()[""]
		}
		properties[f.key] = schema
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// valueSchema describes a value of a type; o is the key that it belongs to.
func valueSchema(o *outline, t reflect.Type) map[string]any {
	switch {
	case t == durationType:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string", "pattern": durationPattern}, map[string]any{"type": "number"}}}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": valueSchema(o, t.Elem())}
	case isText(t) || t.Kind() == reflect.String:
		return textSchema(o, t)
	case t.Kind() == reflect.Struct:
		return tableSchema(outlineOf(t), reflect.Value{})
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return map[string]any{"type": "number"}
	}
	schema := map[string]any{"type": "integer"}
	if reflect.Zero(t).CanUint() {
		schema["minimum"] = 0
	}
	return schema
}

func textSchema(o *outline, t reflect.Type) map[string]any {
	schema := map[string]any{"type": "string"}
	if n, ok := notations[t]; ok {
		schema["pattern"] = n.pattern
	}
	if o.words != nil {
		schema["enum"] = o.words
	}
	return schema
}
