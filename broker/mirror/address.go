package mirror

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Address reads the URL of a repository that a person wants to work on. The error does not
// show the URL, which may contain a password.
func Address(url string) (gitx.Address, error) {
	const next = "give https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH; the login comes from git's credential helper or ssh"
	remote, err := gitx.ParseAddress(url)
	if err != nil {
		return remote, fault.New(next, "--repo: %w", err)
	}
	switch {
	case remote.Path == "":
		return remote, fault.New(next, "--repo: the remote names no repository")
	case remote.Scheme == "http" && !remote.IP.IsLoopback() && remote.Host != "localhost":
		return remote, fault.New("use https, or ssh", "--repo: http is only for this machine itself, because what is fetched over it can be changed on its way")
	case remote.Scheme == "git":
		return remote, fault.New(next, "--repo: the remote is neither https nor ssh")
	}
	return remote, nil
}

// notInBranch matches what git does not allow in the name of a branch.
var notInBranch = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\./|\.lock(/|$)|^[-./@]|[./]$`)

// CheckBranch refuses what cannot be the name of a branch, or looks like an option.
func CheckBranch(name string) error {
	if name == "" || len(name) > 200 || strings.ToValidUTF8(name, "") != name || notInBranch.MatchString(name) || name == "HEAD" {
		return fault.New("give the branch's name as the remote has it, such as main", "--branch: %.100q is not the name of a branch", name)
	}
	return nil
}

// refusal is an error of fetching from a remote.
func refusal(remote gitx.Address, next, format string, args ...any) error {
	return &fault.Error{Op: "clone " + remote.String(), Err: fmt.Errorf(format, args...), Next: next}
}
