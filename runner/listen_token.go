package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/zap"

	"graft/files"
	"graft/results/failure"
)

// tokenVariable is the variable of the environment that holds the token.
const tokenVariable = "GRAFT_TOKEN"

const (
	madeToken = 32      // random bytes in a token that is made
	mostToken = 4 << 10 // bytes of a token that is given
)

// findToken takes the token from a file, or from the environment, or makes one.
func findToken(path string, log *zap.Logger) (token string, made bool, err error) {
	if path != "" {
		token, err = readToken(path, log)
		return token, false, err
	}
	if token = strings.TrimSpace(os.Getenv(tokenVariable)); token != "" {
		return token, false, checkToken(tokenVariable, token)
	}
	random := make([]byte, madeToken)
	_, _ = rand.Read(random) // it ends the program rather than fail
	return hex.EncodeToString(random), true, nil
}

// readToken reads a file that holds a token and nothing else.
func readToken(path string, log *zap.Logger) (string, error) {
	text, err := files.ReadAll(files.OS{}, path, mostToken)
	if err != nil {
		return "", failure.With(failure.Usage, fmt.Errorf("read the token: %w", err))
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		log.Warn("others than you can read the token, or change it; chmod 600 keeps them out", zap.String("file", path))
	}
	token := strings.TrimSpace(string(text))
	return token, checkToken(path, token)
}

// checkToken refuses what a header cannot carry.
func checkToken(where, token string) error {
	if token == "" {
		return failure.Usagef("%s holds no token; write one there, such as 32 random letters and digits", where)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) || len(token) > mostToken {
		return failure.Usagef("%s holds no token that can be sent; take up to %d letters, digits and signs of ASCII, without spaces", where, mostToken)
	}
	return nil
}

// writeSecret replaces a file by one that only this user can read, whole or not at
// all.
func writeSecret(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // for this user alone
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
