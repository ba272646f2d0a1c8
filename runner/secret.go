package main

import (
	"errors"
	"os"
	"path/filepath"
)

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
