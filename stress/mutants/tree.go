package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// findRoot returns the nearest folder from one up that holds go.work.
func findRoot(from string) (string, error) {
	at, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("%s is in no folder with a go.work, want the repository", from)
		}
		at = up
	}
}

// listTree returns the files of the tree at root, from there: those that git follows, and new ones
// that it does not ignore.
func listTree(ctx context.Context, root string) ([]string, error) {
	list := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	var files []string
	for _, name := range bytes.Split(bytes.TrimSuffix(output, []byte{0}), []byte{0}) {
		files = append(files, filepath.FromSlash(string(name)))
	}
	return files, nil
}

// copyTree copies files from one folder to another. One that has been deleted meanwhile is none.
func copyTree(root, to string, files []string) error {
	for _, name := range files {
		from, target := filepath.Join(root, name), filepath.Join(to, name)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
