package control

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// TokenVariable is the environment variable that holds the access token.
const TokenVariable = "GRAFT_TOKEN"

const (
	madeToken = 32      // random bytes in a generated token
	mostToken = 4 << 10 // bytes of a given token
)

// findToken takes the token from the file, or the given one, or generates one.
func findToken(env *app.Env, o Options) (token string, made bool, err error) {
	if o.TokenFile != "" {
		token, err = ReadToken(env, o.TokenFile)
		return token, false, err
	}
	if token = strings.TrimSpace(o.Token); token != "" {
		return token, false, checkToken(TokenVariable, token)
	}
	random := make([]byte, madeToken)
	if _, err := io.ReadFull(env.Random, random); err != nil {
		return "", false, fmt.Errorf("generate a token: %w", err)
	}
	return hex.EncodeToString(random), true, nil
}

// ReadToken reads a token from a file that contains nothing else.
func ReadToken(env *app.Env, path string) (string, error) {
	text, err := files.ReadAll(env.Files, path, mostToken)
	if err != nil {
		return "", failure.With(failure.Usage, fmt.Errorf("read the token: %w", err))
	}
	if info, err := env.Files.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		env.Log.Warn("other users can access the token file; run chmod 600 on it",
			zap.String("file", path))
	}
	token := strings.TrimSpace(string(text))
	return token, checkToken(path, token)
}

// checkToken refuses tokens that a header cannot hold.
func checkToken(where, token string) error {
	if token == "" {
		return failure.Usagef("%s contains no token; write one into it, such as 32 random letters and digits", where)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) || len(token) > mostToken {
		return failure.Usagef("%s: invalid token; expected at most %d printable ASCII characters "+
			"without spaces", where, mostToken)
	}
	return nil
}
