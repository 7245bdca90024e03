package learn

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// npm asks npm, or pnpm if npm is missing, for the registry, and yarn for its own address of the
// registry. It reads the registries of scopes from npmrc.
func (a *asker) npm(ctx context.Context) {
	registry, from := a.npmRegistry(ctx)
	yarnRegistry, yarnFrom := a.yarnRegistry(ctx)
	if registry == "" {
		registry, from = yarnRegistry, yarnFrom
	}
	if registry == "" {
		return
	}
	rc := a.npmrc(ctx)
	s := Source{Ecosystem: NPM, URL: registry, From: from}
	if yarnRegistry != "" && yarnRegistry != registry {
		s.Aliases = []string{yarnRegistry}
	}
	if rc.login(s.URL) != "" {
		s.Credential = "npmrc"
	}
	a.add(s)
	a.npmScopes(rc, registry)
}

// npmRegistry asks npm or pnpm for the registry.
func (a *asker) npmRegistry(ctx context.Context) (address, from string) {
	program := a.find("npm", "pnpm")
	if program == "" {
		if bun := a.find("bun"); bun != "" {
			a.note("bun does not say which registry it uses: install npm, or name it in registries.sources")
		}
		return "", ""
	}
	from = filepath.Base(program) + " config get registry"
	return a.askAddress(ctx, program, "config", "get", "registry"), from
}

// askAddress runs a program that prints an address. If that fails, it adds a note and returns "".
func (a *asker) askAddress(ctx context.Context, program string, args ...string) string {
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

// yarnRegistry asks yarn for the registry.
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
	return a.askAddress(ctx, program, "config", "get", key), "yarn config get " + key
}

// npmrc reads the global npmrc and the person's.
func (a *asker) npmrc(ctx context.Context) npmrc {
	rc := npmrc{}
	for _, path := range a.npmrcPaths(ctx) {
		rc.merge(readNpmrc(readFile(path), a.value))
	}
	return rc
}

// npmrcPaths asks npm for the paths of the global npmrc and the person's. Without npm it returns
// the default path of the person's.
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

// npmScopes adds a source for each registry that npmrc names for scopes, with all of its scopes.
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
			continue // the default source has all packages that no other source has
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
