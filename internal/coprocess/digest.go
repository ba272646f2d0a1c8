package coprocess

import (
	"crypto/sha256"
	"encoding/hex"

	"graft/internal/files"
)

// largestProgram is the maximum size of a program in bytes.
const largestProgram = 1 << 30

// Digest returns the SHA-256 of a program's file in hexadecimal. It does not execute the program, and does not cover
// the files that the program reads.
func Digest(fsys files.FS, path string) (string, error) {
	text, err := files.ReadAll(fsys, path, largestProgram)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
