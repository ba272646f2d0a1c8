// Command opens prints the library that it opens, or the reason why it cannot open one.
package main

import (
	"fmt"

	"graft/torch"
)

func main() {
	if err := torch.Load(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(torch.LibraryPath())
}
