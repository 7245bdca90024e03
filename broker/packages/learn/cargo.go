package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// cargoConfig is the part of Cargo's configuration that names registries.
type cargoConfig struct {
	Source map[string]struct {
		ReplaceWith string `toml:"replace-with"`
		Registry    string `toml:"registry"`
	} `toml:"source"`
	Registries map[string]struct {
		Index string `toml:"index"`
		Token string `toml:"token"`
	} `toml:"registries"`
}

// cargoHome returns the directory of Cargo's configuration.
func (h Host) cargoHome() string {
	if dir := h.value("CARGO_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(h.Home, ".cargo")
}

// cargoFile reads a file of Cargo's configuration. Like Cargo, it prefers the older name, without
// .toml.
func (h Host) cargoFile(name string) (c cargoConfig, err error) {
	for _, file := range []string{name, name + ".toml"} {
		path := filepath.Join(h.cargoHome(), file)
		if data := readFile(path); len(data) > 0 {
			if toml.Unmarshal(data, &c) != nil {
				return cargoConfig{}, fmt.Errorf("%s cannot be read", path)
			}
			return c, nil
		}
	}
	return c, nil
}

// cargo reads Cargo's configuration. If that does not replace the default registry, cargo finds out
// the default by listening to Cargo's requests.
func (a *asker) cargo(ctx context.Context) {
	program := a.find("cargo")
	if program == "" {
		return
	}
	c, err := a.cargoFile("config")
	if err != nil {
		a.note("%v", err)
		return
	}
	replaced, found := c.replacement()
	switch {
	case found:
		a.cargoSource(replaced, "", "source.crates-io in Cargo's configuration")
	default:
		address, err := a.cargoDefault(ctx, program)
		if err != nil {
			a.note("%v", err)
			break
		}
		a.add(Source{Ecosystem: Cargo, URL: address, From: CargoDefault})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Registries)) {
		a.cargoSource(a.cargoIndex(name, c), name, "registries."+name+" in Cargo's configuration")
	}
}

// CargoDefault is the From of the registry that Cargo uses without configuration.
const CargoDefault = "cargo, listened to"

// replacement returns the index of the registry that replaces the default one, and whether the
// configuration replaces it. index is "" if the replacement is not a registry.
func (c cargoConfig) replacement() (index string, found bool) {
	name := c.Source["crates-io"].ReplaceWith
	if name == "" {
		return "", false
	}
	for range len(c.Source) {
		s := c.Source[name]
		if s.ReplaceWith == "" {
			return cmp.Or(s.Registry, c.Registries[name].Index), true
		}
		name = s.ReplaceWith
	}
	return c.Registries[name].Index, true
}

// cargoIndex returns the index of a named registry. The environment has precedence.
func (h Host) cargoIndex(name string, c cargoConfig) string {
	return cmp.Or(h.value(cargoVariable(name, "INDEX")), c.Registries[name].Index)
}

// cargoVariable returns the environment variable for a setting of a registry.
func cargoVariable(name, member string) string {
	return "CARGO_REGISTRIES_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_" + member
}

// cargoSource adds a registry, if it has a sparse index. Other indexes are git repositories or
// directories, which are not supported.
func (a *asker) cargoSource(index, name, from string) {
	raw, sparse := strings.CutPrefix(index, "sparse+")
	if !sparse {
		a.note("%s has no sparse index", from)
		return
	}
	address, _, err := base(raw)
	if err != nil {
		a.note("%s: %v", from, err)
		return
	}
	s := Source{Ecosystem: Cargo, URL: address, From: from, Name: name}
	if name != "" && a.cargoToken(name) != "" {
		s.Credential, s.Private = "cargo", true
	}
	a.add(s)
}

// cargoToken returns the token of a named registry, or "".
func (h Host) cargoToken(name string) string {
	if token := h.value(cargoVariable(name, "TOKEN")); token != "" {
		return token
	}
	for _, file := range []string{"credentials", "config"} {
		if c, err := h.cargoFile(file); err == nil && c.Registries[name].Token != "" {
			return c.Registries[name].Token
		}
	}
	return ""
}

// cargoManifest is a package with a dependency, so that Cargo asks its registry.
const cargoManifest = `[package]
name = "listening"
version = "0.0.0"
[dependencies]
libc = "*"
`

// cargoDefault listens to Cargo while it looks for a package without configuration, and returns the
// base of the registry that it asks.
func (a *asker) cargoDefault(ctx context.Context, program string) (string, error) {
	dir, home := filepath.Join(a.dir, "package"), filepath.Join(a.dir, "home")
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "src"), 0o700), os.Mkdir(home, 0o700),
		os.WriteFile(filepath.Join(dir, "Cargo.toml"), []byte(cargoManifest), 0o600),
		os.WriteFile(filepath.Join(dir, "src/lib.rs"), nil, 0o600))
	if err != nil {
		return "", err
	}
	var failure error
	heard, err := listen(ctx, func(proxy string, root []byte) error {
		authority := filepath.Join(a.dir, "authority.pem")
		if err := os.WriteFile(authority, root, 0o600); err != nil {
			return err
		}
		// Cargo always fails, because the listener refuses its requests.
		_, failure = a.ask(ctx, dir, []string{
			"CARGO_HOME=" + home, "CARGO_HTTP_PROXY=" + proxy, "CARGO_HTTP_CAINFO=" + authority, "CARGO_NET_RETRY=0",
			"CARGO_HTTP_TIMEOUT=10", "CARGO_HTTP_CHECK_REVOKE=false", "CARGO_NET_OFFLINE=false",
		}, program, "generate-lockfile")
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, address := range heard {
		if root, ok := strings.CutSuffix(address, "config.json"); ok && strings.HasSuffix(root, "/") {
			root, _, err := base(root)
			return root, err
		}
	}
	if len(heard) == 0 && failure != nil {
		return "", failure
	}
	return "", errors.New("cargo asked for no sparse index")
}
