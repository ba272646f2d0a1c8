package pt2

import (
	"fmt"
	"os"
	"testing"

	"graft/tracing/axes"
)

func TestTryAxes(t *testing.T) {
	for path := range cases(t) {
		g := importFile(t, path+".pt2").Graph
		a, err := axes.Read(g)
		if err != nil {
			fmt.Println(path, err)
			continue
		}
		fmt.Println("==", path)
		a.Print(os.Stdout)
	}
}
