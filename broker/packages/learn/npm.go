package learn

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// npm asks npm, or pnpm where npm is missing, for the registry and the registries of scopes,
// and yarn for its own name of the registry.
func (a *asker) npm(ctx context.Context) {
	registry, from := a.npmRegistry(ctx)
	yarns, yarnFrom := a.yarnRegistry(ctx)
	if registry == "" {
		registry, from = yarns, yarnFrom
	}
	if registry == "" {
		return
	}
	rc := a.npmrc(ctx)
	s := Source{Ecosystem: NPM, URL: registry, From: from}
	if yarns != "" && yarns != registry {
		s.Aliases = []string{yarns}
	}
	if rc.login(s.URL) != "" {
		s.Credential = "npmrc"
	}
	a.add(s)
	a.npmScopes(rc, registry)
}

// npmRegistry returns the registry by npm or pnpm.
func (a *asker) npmRegistry(ctx context.Context) (address, from string) {
	program := a.find("npm", "pnpm")
	if program == "" {
		if bun := a.find("bun"); bun != "" {
			a.note("bun does not say which registry it uses: install npm, or name it in registries.sources")
		}
		return "", ""
	}
	from = filepath.Base(program) + " config get registry"
	return a.named(ctx, program, "config", "get", "registry"), from
}

// named asks a program for an address. An answer that is none is noted.
func (a *asker) named(ctx context.Context, program string, args ...string) string {
	out, err := a.ask(ctx, a.dir, nil, program, args...)
	if err != nil {
		a.note("%v", err)
		return ""
	}
	address, _, err := base(out)
	if err != nil {
		a.note("%s %s: %v", filepath.Base(program), strings.Join(args, " "), err)
	}
	return address
}

// yarnRegistry returns the registry by yarn. It lets no yarn be downloaded.
func (a *asker) yarnRegistry(ctx context.Context) (address, from string) {
	program := a.find("yarn")
	if program == "" {
		return "", ""
	}
	version, err := a.ask(ctx, a.dir, nil, program, "--version")
	if err != nil {
		a.note("%v", err)
		return "", ""
	}
	key := "npmRegistryServer"
	if strings.HasPrefix(version, "1.") || strings.HasPrefix(version, "0.") {
		key = "registry"
	}
	return a.named(ctx, program, "config", "get", key), "yarn config get " + key
}

// npmrc reads the global and the person's npmrc.
func (a *asker) npmrc(ctx context.Context) npmrc {
	rc := npmrc{}
	for _, path := range a.npmrcPaths(ctx) {
		rc.merge(readNpmrc(readFile(path), a.value))
	}
	return rc
}

// npmrcPaths are the places of the global and the person's npmrc, by npm. Without npm it is
// the usual one.
func (h Host) npmrcPaths(ctx context.Context) []string {
	paths := []string{filepath.Join(h.Home, ".npmrc")}
	program := h.find("npm")
	if program == "" {
		return paths
	}
	out, err := h.ask(ctx, "", nil, program, "config", "get", "globalconfig", "userconfig")
	if err != nil {
		return paths
	}
	told := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		told[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if user := told["userconfig"]; filepath.IsAbs(user) {
		paths[0] = user
	}
	if global := told["globalconfig"]; filepath.IsAbs(global) {
		paths = append([]string{global}, paths...)
	}
	return paths
}

// npmScopes adds a source for each registry that scopes have, with all scopes that it has.
func (a *asker) npmScopes(rc npmrc, registry string) {
	scopes := map[string][]string{}
	var order []string
	for key, value := range rc {
		scope, ok := strings.CutSuffix(key, ":registry")
		if !ok || !strings.HasPrefix(scope, "@") || len(scope) < 2 {
			continue
		}
		address, _, err := base(value)
		if err != nil {
			a.note("npmrc, %s: %v", key, err)
			continue
		}
		if address == registry {
			continue // it has what no other source has
		}
		if scopes[address] == nil {
			order = append(order, address)
		}
		scopes[address] = append(scopes[address], scope)
	}
	slices.Sort(order)
	for _, address := range order {
		slices.Sort(scopes[address])
		s := Source{Ecosystem: NPM, URL: address, From: "npmrc, " + scopes[address][0] + ":registry", Scopes: scopes[address]}
		if rc.login(address) != "" {
			s.Credential, s.Private = "npmrc", true
		}
		a.add(s)
	}
}
