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

// Tools returns this machine, for asking its tools for registries and logins.
func (p Paths) Tools() learn.Host {
	return learn.Host{Env: os.Environ(), Home: p.UserHome, Dir: p.Home}
}

// Learn asks the tools of this machine for their package registries. For Debian packages, it uses
// the registries that fit the agents' images.
func (p Paths) Learn(ctx context.Context, c config.Config) (learn.Learned, error) {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return learn.Learned{}, fault.New("make the directory writable or set IRONCURTAIN_HOME", "%w", err)
	}
	h := p.Tools()
	h.Apt = func(ctx context.Context) []string { return docker.AptSources(ctx, c.Images.Base) }
	return learn.Learn(ctx, h)
}

// PackageSources returns the package registries that agents reach: those of config.json, and for
// other ecosystems the learned ones. If nothing was learned before, it learns and stores the
// registries; notes then say what could not be found out.
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

// newSources describes the registries that tools of this machine name now and that agents do not use,
// because they are not stored; "" for none.
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
		"; 'ironcurtain-mux registry learn' shows the differences, and --write stores the new ones"
}

// RegistriesOf returns the registries as programs in a container know them. cargo is Cargo's default
// address, which is not replaced; "" if it is not known.
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

// CargoAddress returns Cargo's default address among the learned registries, or "".
func CargoAddress(learned []learn.Source) string {
	i := slices.IndexFunc(learned, func(s learn.Source) bool { return s.From == learn.CargoDefault })
	if i < 0 {
		return ""
	}
	return learned[i].URL
}
