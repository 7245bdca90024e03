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
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// paths holds the directories of the program. All paths are absolute.
type paths struct {
	home     string // state: IRONCURTAIN_HOME, else ~/.ironcurtain
	cache    string // rebuilt when absent: IRONCURTAIN_CACHE, else below the user's cache
	userHome string
}

// findPaths resolves the directories from the environment alone.
func findPaths() (paths, error) {
	const op = "find directories"
	userHome, err := os.UserHomeDir()
	if err != nil {
		return paths{}, fail(op, err, "set HOME")
	}
	p := paths{
		userHome: userHome,
		home:     os.Getenv("IRONCURTAIN_HOME"),
		cache:    docker.DefaultCacheDir(os.Getenv, userHome),
	}
	if p.home == "" {
		p.home = filepath.Join(userHome, ".ironcurtain")
	}
	for name, dir := range map[string]string{"IRONCURTAIN_HOME": p.home, "IRONCURTAIN_CACHE": p.cache} {
		if !filepath.IsAbs(dir) {
			return paths{}, fail(op, errors.New(name+" is not an absolute path: "+dir), "give the whole path")
		}
	}
	p.home, p.cache = filepath.Clean(p.home), filepath.Clean(p.cache)
	if info, err := os.Stat(p.home); err == nil && !info.IsDir() {
		return paths{}, fail(op, errors.New(p.home+" is not a directory"), "set IRONCURTAIN_HOME to a directory")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return paths{}, fail(op, err, "set IRONCURTAIN_HOME to a directory of your own")
	}
	return p, nil
}

func (p paths) configFile() string { return filepath.Join(p.home, "config.json") }

// annotationsOf is the file with the accepted annotations of one of the person's own servers.
func (p paths) annotationsOf(server string) string {
	return filepath.Join(p.home, "annotations", server+".json")
}

func (p paths) logFile() string { return filepath.Join(p.home, "ironcurtain-mux.log") }

// expand replaces "~" at the beginning of paths by the home directory.
func (p paths) expand(paths []string) []string {
	var out []string
	for _, path := range paths {
		if path == "~" || strings.HasPrefix(path, "~/") {
			path = filepath.Join(p.userHome, path[1:])
		}
		out = append(out, path)
	}
	return out
}

// whole returns a path as an absolute one, with the home directory for "~".
func (p paths) whole(path string) string { return absolutePath(p.expand([]string{path})[0]) }

// shorten replaces the home directory by "~", for people.
func (p paths) shorten(path string) string {
	if rest, ok := strings.CutPrefix(path, p.userHome+string(filepath.Separator)); ok {
		return "~/" + rest
	}
	return path
}

// loadConfig finds the directories and reads the configuration in them.
func loadConfig() (paths, config.Config, error) {
	p, err := findPaths()
	if err != nil {
		return p, config.Config{}, err
	}
	c, err := p.config()
	return p, c, err
}

// config reads config.json. The paths in it may begin with "~".
func (p paths) config() (config.Config, error) {
	c, err := config.Load(p.configFile())
	if err != nil {
		return c, fail("read configuration", err, "")
	}
	var wrong *input.KeyError
	if _, err := input.Bind(input.Choice{CommandKey: c.CommandKey, Prefix: c.Prefix, Keys: c.Keys}); errors.As(err, &wrong) {
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
	if _, err := tableOf(c); err != nil {
		return c, fail("read configuration", fmt.Errorf("%s: %w", p.configFile(), err), "mend that provider")
	}
	return c, nil
}

// absolutePath makes a path of the command line absolute. It leaves paths below "~" to the
// engine, which knows the home directory.
func absolutePath(p string) string {
	if p == "" || filepath.IsAbs(p) || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	return abs
}

// checkConfig returns an error if a start would refuse the present config.json.
func (p paths) checkConfig() error {
	c, err := p.config()
	if err != nil {
		return err
	}
	agents, err := agentsOf(c)
	if err == nil {
		_, err = ownServers(c, p.configFile(), "", agents)
	}
	return err
}
