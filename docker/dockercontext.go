package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The docker command keeps its contexts below its configuration directory:
// config.json names the current one, contexts/meta/<sha256 of the name>/meta.json
// says where it listens, contexts/tls/<same>/docker/ holds its certificates.

// configDir returns the configuration directory of the docker command.
func configDir(getenv func(string) string, home string) string {
	if dir := getenv("DOCKER_CONFIG"); dir != "" {
		return dir
	}
	return filepath.Join(home, ".docker")
}

// currentContext returns the chosen context and where it was chosen. An empty name
// means that none was chosen.
func currentContext(getenv func(string) string, home string) (name, source string, err error) {
	if name := getenv("DOCKER_CONTEXT"); name != "" {
		return name, "context " + name + " (DOCKER_CONTEXT)", nil
	}
	path := filepath.Join(configDir(getenv, home), "config.json")
	data, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	var config struct {
		CurrentContext string `json:"currentContext"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return "", "", fmt.Errorf("read %s: %w", path, err)
	}
	return config.CurrentContext, "context " + config.CurrentContext, nil
}

// contextEndpoint reads the address of a context's engine.
func contextEndpoint(dir, name string) (Endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	data, err := readSmall(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if err != nil {
		return Endpoint{}, errNoSuchContext(name, err)
	}
	return parseContext(data, name, filepath.Join(dir, "contexts", "tls", id, "docker"))
}

// Context is a context of the docker command.
type Context struct{ Name, Address string }

// Contexts lists the contexts of the docker command that name an engine, by their names.
func Contexts(getenv func(string) string, home string) []Context {
	meta := filepath.Join(configDir(getenv, home), "contexts", "meta")
	dirs, err := os.ReadDir(meta)
	if err != nil {
		return nil // nobody has made one
	}
	var all []Context
	for _, dir := range dirs {
		data, err := readSmall(filepath.Join(meta, dir.Name(), "meta.json"))
		if err != nil {
			continue
		}
		var is struct{ Name string }
		if json.Unmarshal(data, &is) != nil {
			continue
		}
		if e, err := parseContext(data, is.Name, ""); err == nil {
			all = append(all, Context{is.Name, e.Address})
		}
	}
	slices.SortFunc(all, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// parseContext decodes a context's metadata; certDir is used when it exists.
func parseContext(data []byte, name, certDir string) (Endpoint, error) {
	var meta struct {
		Name      string
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(data, &meta); err != nil {
		return Endpoint{}, fmt.Errorf("docker context %q: %w", name, err)
	}
	if meta.Name != name {
		return Endpoint{}, because(ErrEndpoint, "docker context %q: its metadata is that of %q", name, meta.Name)
	}
	docker, ok := meta.Endpoints["docker"]
	if !ok || docker.Host == "" {
		return Endpoint{}, because(ErrEndpoint, "docker context %q names no engine", name)
	}
	e := Endpoint{Address: docker.Host, SkipVerify: docker.SkipTLSVerify}
	if info, err := os.Stat(certDir); err == nil && info.IsDir() {
		e.CertDir = certDir
	}
	return e, nil
}

// readSmall reads a configuration file of at most 1 MiB.
func readSmall(path string) ([]byte, error) {
	const limit = 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("read %s: larger than %d bytes", path, limit)
	}
	return data, err
}
