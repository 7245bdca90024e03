package agent

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Registries are the package registries that a container reaches. Their bases are those that
// ContainerAddress returns. The zero value has none, and changes nothing.
type Registries struct {
	NPM       string            // for all names without a scope in NPMScopes
	Yarn      string            // yarn's own address for NPM, which its lockfiles contain; empty: the same as NPM
	NPMScopes map[string]string // by scope, "@acme"
	PyPI      []string          // the default index first
	Go        []string          // module proxies, in the order in which go asks them
	GoSum     string            // verifier key of the checksum database; empty: there is none
	GoPrivate []string          // patterns of modules that are not in the database
	// Cargo is the base of the index in place of Cargo's own; empty: Cargo's own. It must not
	// be Cargo's own address, because Cargo refuses two sources of one address.
	Cargo      string
	CargoNamed map[string]string // by the name that projects use
	// Apt means that repositories of Debian packages can be reached.
	Apt bool
	// AptSources are the repositories, each an address, a suite and its components, as in a
	// sources.list. Empty: those of the image.
	AptSources []string
}

// Empty reports whether there are no registries.
func (r Registries) Empty() bool {
	return r.NPM == "" && len(r.NPMScopes)+len(r.PyPI)+len(r.Go)+len(r.CargoNamed) == 0 && r.Cargo == "" && !r.Apt
}

// packagePatience is how long programs wait for a package, because a person may have to decide. It
// is longer than an escalation waits.
const packagePatience = 900 * time.Second

// Environment lists the variables that package managers need to use the registries through
// the proxy, besides those of every container. They do not override a project's own settings
// for registries, except for Go, whose projects have none.
func (r Registries) Environment() []string {
	if r.Empty() {
		return nil
	}
	seconds := strconv.Itoa(int(packagePatience / time.Second))
	millis := strconv.FormatInt(packagePatience.Milliseconds(), 10)
	env := []string{
		// A cafile in any npmrc beats NODE_EXTRA_CA_CERTS. pnpm ignores npm's variables from 11 on.
		"npm_config_cafile=" + CABundle, "npm_config_fetch_timeout=" + millis, "npm_config_globalconfig=" + Orientation + "/npmrc",
		"pnpm_config_cafile=" + CABundle, "pnpm_config_fetch_timeout=" + millis,
		"YARN_HTTP_PROXY=" + ProxyURL, "YARN_HTTPS_PROXY=" + ProxyURL, "YARN_HTTP_TIMEOUT=" + millis,
		"PIP_DEFAULT_TIMEOUT=" + seconds, "POETRY_REQUESTS_TIMEOUT=" + seconds, "UV_HTTP_TIMEOUT=" + seconds,
		"CARGO_HTTP_TIMEOUT=" + seconds,
	}
	if r.Apt {
		env = append(env, "APT_CONFIG="+Orientation+"/apt.conf")
	}
	if len(r.Go) > 0 {
		database := r.GoSum
		if database == "" {
			database = "off"
		}
		env = append(env, "GOPROXY="+strings.Join(r.Go, ","), "GOSUMDB="+database,
			"GONOSUMDB="+strings.Join(r.GoPrivate, ","), "GONOPROXY=none", "GOVCS=*:off")
	}
	return env
}

// addressSuffix is the end of names that stand for addresses.
const addressSuffix = ".address.invalid"

// ContainerAddress returns the base of a registry for programs in a container. They would connect to
// localhost and to IP addresses directly and not through the proxy, so these hosts get a name under
// .invalid, which no server has. Port and path stay.
func ContainerAddress(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not the address of a registry", base)
	}
	name := ""
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		name = nameOf(a)
	} else if host := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); host == "localhost" || strings.HasSuffix(host, ".localhost") {
		name = host
	}
	if name == "" {
		return base, nil
	}
	port := ""
	if u.Port() != "" {
		port = ":" + u.Port()
	}
	u.Host = name + addressSuffix + port
	return u.String(), nil
}

// nameOf returns an IP address as one label of a host name.
func nameOf(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return strings.ReplaceAll(a.String(), ".", "-")
	}
	return strings.ReplaceAll(a.StringExpanded(), ":", "-")
}

// plainHosts returns the hosts, with their ports, of bases without encryption.
func plainHosts(bases ...string) []string {
	var hosts []string
	for _, base := range bases {
		if u, err := url.Parse(base); err == nil && u.Scheme == "http" && !slices.Contains(hosts, u.Host) {
			hosts = append(hosts, u.Host)
		}
	}
	return hosts
}

// byName returns the entries of a map, sorted by name.
func byName(m map[string]string) [][2]string {
	var all [][2]string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, [2]string{name, m[name]})
	}
	return all
}
