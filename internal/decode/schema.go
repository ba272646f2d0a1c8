package decode

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// DurationPattern is a regular expression for the strings that time.ParseDuration accepts.
const DurationPattern = `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// Schema returns the JSON Schema (draft 2020-12) of the documents that can be read into a struct, for editors and other
// programs. The struct must hold the defaults. Constraints between several keys are not included.
func (d *Dialect) Schema(title string, defaults any) (string, error) {
	o, v := d.of(defaults)
	schema := d.tableSchema(o, v)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = title
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(schema)
	return b.String(), err
}

// tableSchema describes a table; v holds the defaults, and is invalid if there are none.
func (d *Dialect) tableSchema(o *Outline, v reflect.Value) map[string]any {
	properties := map[string]any{}
	for _, f := range o.Fields {
		if f.IsTable() {
			table := d.tableSchema(f, v)
			table["description"] = f.About()
			properties[f.Key] = table
			continue
		}
		schema := d.valueSchema(f, f.typ)
		schema["description"] = f.About()
		if v.IsValid() {
			schema["default"] = unordered(d.plain(v.FieldByIndex(f.index)))
		}
		properties[f.Key] = schema
	}
	table := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if needed := o.missing(nil); len(needed) > 0 {
		table["required"] = mapped(needed, func(f *Outline) string { return f.Key })
	}
	return table
}

// valueSchema describes a value of a type; o is the key that it belongs to.
func (d *Dialect) valueSchema(o *Outline, t reflect.Type) map[string]any {
	switch {
	case t == durationType:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string", "pattern": DurationPattern},
			map[string]any{"type": "number"}}}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": d.valueSchema(o, t.Elem())}
	case d.isText(t) || t.Kind() == reflect.String:
		return d.textSchema(o, t)
	case t.Kind() == reflect.Struct:
		return d.tableSchema(d.Outline(t), reflect.Value{})
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

func (d *Dialect) textSchema(o *Outline, t reflect.Type) map[string]any {
	schema := map[string]any{"type": "string"}
	if n, ok := d.Notations[t]; ok {
		schema["pattern"] = n.Pattern
	}
	switch {
	case o.words != nil && o.pathed == pathOrWord:
		schema["anyOf"] = []map[string]any{{"enum": o.words}, {"pattern": "[/.]"}} // a word, or a path
	case o.words != nil:
		schema["enum"] = o.words
	}
	return schema
}
