package wiring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// Paths holds the directories of the program. All paths are absolute.
type Paths struct {
	Home     string // state: IRONCURTAIN_HOME, else ~/.ironcurtain
	Cache    string // rebuilt when absent: IRONCURTAIN_CACHE, else below the user's cache
	UserHome string
	Engine   string // the container engine that --engine names; empty without the flag
}

// FindPaths resolves the directories from the environment alone.
func FindPaths() (Paths, error) {
	const op = "find directories"
	userHome, err := os.UserHomeDir()
	if err != nil {
		return Paths{}, cli.Fail(op, err, "set HOME")
	}
	p := Paths{
		UserHome: userHome,
		Home:     os.Getenv("IRONCURTAIN_HOME"),
		Cache:    docker.DefaultCacheDir(os.Getenv, userHome),
	}
	if p.Home == "" {
		p.Home = filepath.Join(userHome, ".ironcurtain")
	}
	for name, dir := range map[string]string{"IRONCURTAIN_HOME": p.Home, "IRONCURTAIN_CACHE": p.Cache} {
		if !filepath.IsAbs(dir) {
			return Paths{}, cli.Fail(op, errors.New(name+" is not an absolute path: "+dir), "give the whole path")
		}
	}
	p.Home, p.Cache = filepath.Clean(p.Home), filepath.Clean(p.Cache)
	if info, err := os.Stat(p.Home); err == nil && !info.IsDir() {
		return Paths{}, cli.Fail(op, errors.New(p.Home+" is not a directory"), "set IRONCURTAIN_HOME to a directory")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Paths{}, cli.Fail(op, err, "set IRONCURTAIN_HOME to a directory that you can use")
	}
	return p, nil
}

// ConfigFile is the path of config.json.
func (p Paths) ConfigFile() string { return filepath.Join(p.Home, "config.json") }

// AnnotationsOf is the file with the accepted annotations of one of the person's own servers.
func (p Paths) AnnotationsOf(server string) string {
	return filepath.Join(p.Home, "annotations", server+".json")
}

// LogFile is the path of the program's own log.
func (p Paths) LogFile() string { return filepath.Join(p.Home, "ironcurtain-mux.log") }

// expand replaces "~" at the beginning of paths by the home directory.
func (p Paths) expand(paths []string) []string {
	var out []string
	for _, path := range paths {
		if path == "~" || strings.HasPrefix(path, "~/") {
			path = filepath.Join(p.UserHome, path[1:])
		}
		out = append(out, path)
	}
	return out
}

// Whole returns a path as an absolute one, with the home directory for "~".
func (p Paths) Whole(path string) string { return AbsolutePath(p.expand([]string{path})[0]) }

// Shorten replaces the home directory by "~", for people.
func (p Paths) Shorten(path string) string {
	if rest, ok := strings.CutPrefix(path, p.UserHome+string(filepath.Separator)); ok {
		return "~/" + rest
	}
	return path
}

// LoadConfig finds the directories and reads the configuration in them.
func LoadConfig() (Paths, config.Config, error) {
	p, err := FindPaths()
	if err != nil {
		return p, config.Config{}, err
	}
	c, err := p.Config()
	return p, c, err
}

// Config reads config.json. The paths in it may begin with "~".
func (p Paths) Config() (config.Config, error) {
	c, err := config.Load(p.ConfigFile())
	if err != nil {
		return c, cli.Fail("read configuration", err, "")
	}
	var wrong *input.KeyError
	if _, err := input.Bind(input.Choice{CommandKey: c.CommandKey, Prefix: c.Prefix, Keys: c.Keys}); errors.As(err, &wrong) {
		field := "/" + wrong.Member
		if wrong.Name != "" {
			field += "/" + wrong.Name
		}
		return c, cli.Fail("read configuration", config.At(p.ConfigFile(), field, wrong.Key, wrong.Err), "")
	}
	if c.Policy != "" {
		c.Policy = p.expand([]string{c.Policy})[0]
	}
	if len(c.NotifyCommand) > 0 {
		c.NotifyCommand[0] = p.expand(c.NotifyCommand[:1])[0]
	}
	c.Protected, c.Reachable = p.expand(c.Protected), p.expand(c.Reachable)
	c.Registries.Malicious = p.expand(c.Registries.Malicious)
	if _, err := TableOf(c); err != nil {
		return c, cli.Fail("read configuration", fmt.Errorf("%s: %w", p.ConfigFile(), err), "fix that provider")
	}
	return c, nil
}

// AbsolutePath makes a path of the command line absolute. It leaves paths below "~" to the
// engine, which knows the home directory.
func AbsolutePath(p string) string {
	if p == "" || filepath.IsAbs(p) || p == "~" || strings.HasPrefix(p, "~/") {
		return p
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	return abs
}

// CheckConfig returns an error if a start would refuse the present config.json.
func (p Paths) CheckConfig() error {
	c, err := p.Config()
	if err != nil {
		return err
	}
	agents, err := AgentsOf(c)
	if err == nil {
		_, err = OwnServers(c, p.ConfigFile(), "", agents)
	}
	return err
}
