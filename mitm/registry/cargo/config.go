package cargo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// config is the content of config.json.
type config struct {
	template string // for the addresses of archives, with at least two markers
}

// markers of a template.
const (
	markCrate   = "{crate}"
	markVersion = "{version}"
	markPrefix  = "{prefix}"
	markLower   = "{lowerprefix}"
	markSum     = "{sha256-checksum}"
)

// readConfig reads config.json. Its template must lead to the origin's archives, by paths that
// Parse reads.
func readConfig(o *registry.Origin, d *registry.Document) (*config, error) {
	if err := checkJSON(d.Data); err != nil {
		return nil, err
	}
	m, err := members(d.Data, "dl", "api", "auth-required")
	if err != nil {
		return nil, err
	}
	dl, ok := jsonx.Unquote(m["dl"])
	if !ok {
		return nil, errors.New("it does not say where archives are")
	}
	if api := m["api"]; there(api) {
		if _, ok := jsonx.Unquote(api); !ok {
			return nil, errors.New("its api is not a text")
		}
	}
	if auth := string(m["auth-required"]); auth != "" && auth != "true" && auth != "false" {
		return nil, errors.New("its auth-required is neither true nor false")
	}
	c := &config{template: dl}
	marked := false
	for _, mark := range []string{markCrate, markVersion, markPrefix, markLower, markSum} {
		marked = marked || strings.Contains(dl, mark)
	}
	if !marked {
		c.template += "/" + markCrate + "/" + markVersion + "/download"
	}
	const name, version = "Some_crate", "1.2.3-rc.1+x"
	address, err := c.address(o, name, version, strings.Repeat("0", 64))
	if err != nil {
		return nil, err
	}
	if n, v, ok := crateOf(strings.TrimPrefix(address, baseOf(o, address))); !ok || n != name || v != version {
		return nil, errors.New("its addresses of archives do not end with name and version")
	}
	return c, nil
}

// address returns the address of a version's archive, as agents know it. cksum is in hex.
func (c *config) address(o *registry.Origin, name, version, cksum string) (string, error) {
	p := prefix(name)
	// One after the other, as cargo does.
	link := strings.ReplaceAll(c.template, markCrate, name)
	link = strings.ReplaceAll(link, markVersion, version)
	link = strings.ReplaceAll(link, markPrefix, p)
	link = strings.ReplaceAll(link, markLower, strings.ToLower(p))
	link = strings.ReplaceAll(link, markSum, cksum)
	for _, alias := range o.Aliases {
		if rest, ok := strings.CutPrefix(link, alias.String()); ok {
			link = o.URL.String() + rest
			break
		}
	}
	base := baseOf(o, link)
	if base == "" {
		return "", fmt.Errorf("its archives are at %s, which is not in this registry's artifacts in config.json", hostOf(link))
	}
	if !cleanPath(strings.TrimPrefix(link, base)) {
		return "", errors.New("its addresses of archives have unusual characters")
	}
	return link, nil
}

// baseOf returns the longest base of the origin that an address is below.
func baseOf(o *registry.Origin, address string) string {
	longest := ""
	for _, u := range append([]*url.URL{o.URL}, o.Artifacts...) {
		if b := u.String(); strings.HasSuffix(b, "/") && strings.HasPrefix(address, b) && len(b) > len(longest) {
			longest = b
		}
	}
	return longest
}

// hostOf returns the host of a link for a message, without characters that hosts do not have.
func hostOf(link string) string {
	_, rest, _ := strings.Cut(link, "://")
	host, _, _ := strings.Cut(rest, "/")
	for i := 0; i < len(host); i++ {
		if c := host[i]; !alphanumeric(c) && c != '.' && c != '-' && c != ':' {
			host = ""
		}
	}
	if host == "" || len(host) > 100 {
		return "another address"
	}
	return host
}

// checkJSON refuses a document that must not be copied.
func checkJSON(data []byte) error {
	if !utf8.Valid(data) || !jsonx.Valid(data) {
		return errors.New("it is not JSON")
	}
	return nil
}

// members returns the members of an object that have one of the names. It refuses a name that only
// differs in case, because some reader may treat it as equal.
func members(object []byte, names ...string) (map[string][]byte, error) {
	found := make(map[string][]byte, len(names))
	err := jsonx.Walk(object, func(name string, raw []byte, _ int) error {
		for _, n := range names {
			if name == n {
				found[n] = raw
			} else if strings.EqualFold(name, n) {
				return fmt.Errorf("it has a member that is almost %q", n)
			}
		}
		return nil
	})
	return found, err
}

// there reports whether a member exists and is not null.
func there(raw []byte) bool { return raw != nil && string(raw) != "null" }
