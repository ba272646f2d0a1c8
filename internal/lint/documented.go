package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// checkDocumented requires a comment on every package, every exported name and every field of an options struct.
func checkDocumented(tree *Tree) []Finding {
	found := undocumentedPackages(tree)
	for _, file := range tree.GoFiles() {
		if file.IsTest() {
			continue
		}
		for _, decl := range file.Go.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				found = append(found, undocumentedFunc(file, d)...)
			case *ast.GenDecl:
				found = append(found, undocumentedGroup(file, d)...)
			}
		}
	}
	return found
}

// undocumentedPackages reports a package without a comment once, at its first file. A package with only test files
// needs none.
func undocumentedPackages(tree *Tree) []Finding {
	first := make(map[string]*File)
	documented := make(map[string]bool)
	var order []string
	for _, file := range tree.GoFiles() {
		if file.IsTest() {
			continue
		}
		dir := file.Dir()
		if first[dir] == nil {
			first[dir] = file
			order = append(order, dir)
		}
		documented[dir] = documented[dir] || says(file.Go.Doc)
	}
	var found []Finding
	for _, dir := range order {
		if !documented[dir] {
			text := fmt.Sprintf("package %s has no comment; describe its job above one package clause",
				first[dir].Go.Name.Name)
			found = append(found, first[dir].Finding(first[dir].Go.Name, text))
		}
	}
	return found
}

func undocumentedFunc(file *File, d *ast.FuncDecl) []Finding {
	if says(d.Doc) || !d.Name.IsExported() {
		return nil
	}
	if d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
		return nil
	}
	return []Finding{undocumented(file, d.Name)}
}

// receiver returns the name of a method's type, without pointer and parameters.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// undocumentedGroup checks one declaration of types, constants or variables. A comment above a group covers its
// constants and variables.
func undocumentedGroup(file *File, d *ast.GenDecl) []Finding {
	var found []Finding
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && !says(s.Doc, s.Comment) && (d.Lparen.IsValid() || !says(d.Doc)) {
				found = append(found, undocumented(file, s.Name))
			}
			found = append(found, undocumentedMembers(file, s)...)
		case *ast.ValueSpec:
			if says(d.Doc, s.Doc, s.Comment) {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					found = append(found, undocumented(file, name))
				}
			}
		}
	}
	return found
}

// undocumentedMembers checks types whose members are part of their documentation: options, whose fields state unit,
// default and the meaning of zero, and exported interfaces.
func undocumentedMembers(file *File, s *ast.TypeSpec) []Finding {
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		if strings.HasSuffix(s.Name.Name, "Options") || strings.HasSuffix(s.Name.Name, "Config") {
			fields = t.Fields
		}
	case *ast.InterfaceType:
		if s.Name.IsExported() {
			fields = methods(t)
		}
	}
	if fields == nil {
		return nil
	}
	var found []Finding
	for _, field := range fields.List {
		if !says(field.Doc, field.Comment) {
			text := fmt.Sprintf("%s of %s has no comment; describe its use and the meaning of zero", memberName(field),
				s.Name.Name)
			found = append(found, file.Finding(field, text))
		}
	}
	return found
}

// memberName returns the name of a field or method, or the type of an embedded one.
func memberName(field *ast.Field) string {
	if len(field.Names) > 0 {
		return field.Names[0].Name
	}
	return "an embedded type"
}

// methods returns an interface's own methods, without embedded ones. A single method needs no comment, because the
// interface's comment describes it.
func methods(t *ast.InterfaceType) *ast.FieldList {
	if t.Methods.NumFields() < 2 {
		return nil
	}
	own := new(ast.FieldList)
	for _, field := range t.Methods.List {
		if len(field.Names) > 0 && field.Names[0].IsExported() {
			own.List = append(own.List, field)
		}
	}
	return own
}

// says reports whether one of the comments has words; a directive has none.
func says(comments ...*ast.CommentGroup) bool {
	for _, comment := range comments {
		if comment != nil && strings.TrimSpace(comment.Text()) != "" {
			return true
		}
	}
	return false
}

func undocumented(file *File, name *ast.Ident) Finding {
	return file.Finding(name, fmt.Sprintf("%s is exported and has no comment; "+
		"describe its use and the meaning of zero, or unexport it", name.Name))
}
