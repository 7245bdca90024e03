package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
)

// place is where the program keeps things. All paths are absolute.
type place struct {
	home     string // state: IRONCURTAIN_HOME, else ~/.ironcurtain
	cache    string // rebuilt when absent: IRONCURTAIN_CACHE, else below the user's cache
	userHome string
}

// findPlace resolves the directories from the environment alone.
func findPlace() (place, error) {
	const op = "find directories"
	userHome, err := os.UserHomeDir()
	if err != nil {
		return place{}, fail(op, err, "set HOME")
	}
	p := place{
		userHome: userHome,
		home:     os.Getenv("IRONCURTAIN_HOME"),
		cache:    docker.DefaultCacheDir(os.Getenv, userHome),
	}
	if p.home == "" {
		p.home = filepath.Join(userHome, ".ironcurtain")
	}
	for name, dir := range map[string]string{"IRONCURTAIN_HOME": p.home, "IRONCURTAIN_CACHE": p.cache} {
		if !filepath.IsAbs(dir) {
			return place{}, fail(op, errors.New(name+" is not an absolute path: "+dir), "give the whole path")
		}
	}
	p.home, p.cache = filepath.Clean(p.home), filepath.Clean(p.cache)
	if info, err := os.Stat(p.home); err == nil && !info.IsDir() {
		return place{}, fail(op, errors.New(p.home+" is not a directory"), "set IRONCURTAIN_HOME to a directory")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place{}, fail(op, err, "set IRONCURTAIN_HOME to a directory of your own")
	}
	return p, nil
}

func (p place) configFile() string { return filepath.Join(p.home, "config.json") }
func (p place) logFile() string    { return filepath.Join(p.home, "ironcurtain-mux.log") }

// expand puts the home directory in the place of "~" at the beginning of paths.
func (p place) expand(paths []string) []string {
	var out []string
	for _, path := range paths {
		if path == "~" || strings.HasPrefix(path, "~/") {
			path = filepath.Join(p.userHome, path[1:])
		}
		out = append(out, path)
	}
	return out
}

// shorten is the other way round, for people: the home directory becomes "~".
func (p place) shorten(path string) string {
	if rest, ok := strings.CutPrefix(path, p.userHome+string(filepath.Separator)); ok {
		return "~/" + rest
	}
	return path
}

// config reads config.json. The paths in it may begin with "~".
func (p place) config() (config.Config, error) {
	c, err := config.Load(p.configFile())
	if err != nil {
		return c, fail("read configuration", err, "")
	}
	var wrong *tui.KeyError
	if errors.As(tui.CheckKeys(c.CommandKey, c.Prefix, c.Keys), &wrong) {
		field := "/" + wrong.Member
		if wrong.Name != "" {
			field += "/" + wrong.Name
		}
		return c, fail("read configuration", config.At(p.configFile(), field, wrong.Key, wrong.Err), "")
	}
	if c.Policy != "" {
		c.Policy = p.expand([]string{c.Policy})[0]
	}
	if len(c.NotifyCommand) > 0 {
		c.NotifyCommand[0] = p.expand(c.NotifyCommand[:1])[0]
	}
	c.Protected, c.Reachable = p.expand(c.Protected), p.expand(c.Reachable)
	if _, err := providersOf(c); err != nil {
		return c, fail("read configuration", fmt.Errorf("%s: %w", p.configFile(), err), "mend that provider")
	}
	return c, nil
}
