package wiring

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// RegistriesFile is the file with the package registries that were learned.
func (p Paths) RegistriesFile() string { return learn.File(p.Home) }

// Tools is this machine, as its tools are asked for registries and logins.
func (p Paths) Tools() learn.Host {
	return learn.Host{Env: os.Environ(), Home: p.UserHome, Dir: p.Home}
}

// Learn asks the tools of this machine for their package registries. Of Debian packages, agents
// need those that fit their images.
func (p Paths) Learn(ctx context.Context, c config.Config) (learn.Learned, error) {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return learn.Learned{}, fault.New("make the directory writable or set IRONCURTAIN_HOME", "%w", err)
	}
	h := p.Tools()
	h.Apt = func(ctx context.Context) []string { return docker.AptSources(ctx, c.Images.Base) }
	return learn.Learn(ctx, h)
}

// PackageSources returns the package registries that agents reach: those of config.json, and
// of other ecosystems those that were learned. Where nothing was learned before, it learns and
// stores that; notes then say what could not be found out.
func (p Paths) PackageSources(ctx context.Context, c config.Config) (sources []learn.Source, notes []string, err error) {
	if !c.Registries.Enabled {
		return nil, nil, nil
	}
	stored, known, err := learn.Load(p.RegistriesFile())
	if err != nil {
		return nil, nil, err
	}
	if !known {
		learned, err := p.Learn(ctx, c)
		if err == nil {
			err = learn.Save(p.RegistriesFile(), learned.Sources)
		}
		if err != nil {
			return nil, nil, err
		}
		stored, notes = learned.Sources, learned.Notes
	}
	return learn.Effective(c.Registries.Sources, stored), notes, nil
}

// newSources says which registries the tools of this machine name that agents do not use, because
// what was stored counts; "" for none.
func (p Paths) newSources(ctx context.Context, c config.Config, used []learn.Source, log *slog.Logger) string {
	learned, err := p.Learn(ctx, c)
	if err != nil {
		log.Info("package registries", "error", err)
		return ""
	}
	var added []string
	for _, d := range learn.Differences(used, learn.Effective(c.Registries.Sources, learned.Sources)) {
		if d.Sign == '+' && d.Source.URL != "" {
			added = append(added, d.Source.Ecosystem+" "+d.Source.URL)
		}
	}
	if len(added) == 0 {
		return ""
	}
	return "tools of this machine name package registries that agents do not use: " + strings.Join(added, ", ") +
		"; 'ironcurtain-mux registry learn' shows what differs, and --write takes it"
}

// RegistriesOf returns the registries as programs in a container know them. cargo is the
// address that Cargo has by itself, or "" when it is not known; nothing stands in for it.
func RegistriesOf(sources []learn.Source, cargo string) (agent.Registries, error) {
	r := agent.Registries{NPMScopes: map[string]string{}, CargoNamed: map[string]string{}}
	for _, s := range sources {
		if s.URL == "" {
			if s.Ecosystem == learn.Go {
				r.GoPrivate = append(r.GoPrivate, s.Scopes...)
			}
			continue
		}
		base, err := agent.ContainerAddress(s.URL)
		if err != nil {
			return agent.Registries{}, err
		}
		switch s.Ecosystem {
		case learn.NPM:
			err = addNPM(&r, s, base)
		case learn.PyPI:
			if strings.Count(base, "/") == 3 {
				base += "simple/" // a server without a path has its index there
			}
			r.PyPI = append(r.PyPI, base)
		case learn.Go:
			r.Go = append(r.Go, base)
			if r.GoSum == "" && len(s.Keys) > 0 {
				r.GoSum = s.Keys[0]
			}
		case learn.Cargo:
			switch {
			case s.Name != "":
				r.CargoNamed[s.Name] = base
			case r.Cargo == "" && s.From != learn.CargoDefault && s.URL != cargo:
				r.Cargo = base
			}
		case learn.Apt:
			r.Apt = true
			for _, suite := range s.Suites {
				r.AptSources = append(r.AptSources, base+" "+suite)
			}
		}
		if err != nil {
			return agent.Registries{}, err
		}
	}
	return r, nil
}

// addNPM adds a registry of npm: that of its scopes or, without any, of all other names.
func addNPM(r *agent.Registries, s learn.Source, base string) error {
	for _, scope := range s.Scopes {
		r.NPMScopes[scope] = base
	}
	if len(s.Scopes) > 0 || r.NPM != "" {
		return nil
	}
	r.NPM = base
	if len(s.Aliases) > 0 {
		alias, err := agent.ContainerAddress(s.Aliases[0])
		r.Yarn = alias
		return err
	}
	return nil
}

// CargoAddress is the address that Cargo has by itself, among what was learned, or "".
func CargoAddress(learned []learn.Source) string {
	i := slices.IndexFunc(learned, func(s learn.Source) bool { return s.From == learn.CargoDefault })
	if i < 0 {
		return ""
	}
	return learned[i].URL
}
