package preview

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// web is the effect of fetching an address.
func (p *Previewer) web(raw string) *Effect {
	d := p.newDraft(Web)
	u, err := urlx.Parse(raw)
	if err != nil {
		d.fail(err, "the address cannot be taken apart")
		return d.done("fetches %s", raw)
	}
	d.host(u.Scheme, u.Host, u.Port, p.Known)
	_, rest, _ := strings.Cut(u.String(), "://")
	if _, path, _ := strings.Cut(rest, "/"); path != "" {
		d.note("path: /%s", path)
		if _, query, has := strings.Cut(path, "?"); has && len(query) > 100 {
			d.warn("the query carries %s away", plural(len(query), "byte"))
		}
	}
	return d.done("sends a request to %s", u.Host)
}

// domainEffect is the effect of allowing one more host.
func (p *Previewer) domainEffect(c policy.Call) *Effect {
	var a struct {
		Domain string `json:"domain"`
	}
	if c.Tool != "add_proxy_domain" || json.Unmarshal(c.Arguments, &a) != nil {
		return nil
	}
	d := p.newDraft(Web)
	d.host("https", a.Domain, urlx.DefaultPort("https"), p.Known)
	d.warn("a request can carry away what the agent has read")
	return d.done("lets the agent read from %s", a.Domain)
}

// host adds the site that a host belongs to, and warnings if the host looks like another
// one.
func (d *draft) host(scheme, host string, port int, known []string) {
	if ip, err := netip.ParseAddr(host); err == nil {
		kind := "an address without a name"
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() {
			kind = "an address of this machine or network"
		}
		d.note("host: %s, %s", host, kind)
	} else {
		site, err := publicsuffix.EffectiveTLDPlusOne(host)
		if err != nil || site == host {
			d.note("host: %s", host)
		} else {
			d.note("host: %s, which belongs to %s", host, site)
		}
	}
	for _, w := range LookAlike(host, known) {
		d.warn("%s", w)
	}
	if scheme == "http" || scheme == "git" {
		d.warn("not encrypted: %s", scheme)
	}
	if port != urlx.DefaultPort(scheme) {
		d.warn("unusual port: %d", port)
	}
}

// LookAlike says in which ways a canonical host could be taken for another: by
// letters of other scripts, by letters that look like others, by the name of a
// known site in front of an unknown one. None means nothing was found.
func LookAlike(host string, known []string) []string {
	if _, err := netip.ParseAddr(host); err == nil || slices.Contains(known, host) {
		return nil
	}
	var out []string
	shown, err := idna.Punycode.ToUnicode(host)
	if err != nil {
		return []string{"the name is malformed punycode"}
	}
	if shown != host {
		out = append(out, fmt.Sprintf("punycode: %s reads %s (%s)", host, shown, strings.Join(scriptsOf(shown), ", ")))
	}
	for label := range strings.SplitSeq(shown, ".") {
		if s := scriptsOf(label); len(s) > 1 {
			out = append(out, fmt.Sprintf("%q mixes %s letters", label, strings.Join(s, " and ")))
		}
	}
	site := siteOf(host)
	if ascii := ToLatin(shown); ascii != shown && isASCII(ascii) {
		out = append(out, fmt.Sprintf("looks like %s, and is not", ascii))
	}
	for _, k := range known {
		switch {
		case site == siteOf(k):
			return out
		case skeleton(shown) == skeleton(k), skeleton(siteOf(shown)) == skeleton(siteOf(k)):
			out = append(out, fmt.Sprintf("looks like %s, and is not", k))
		case strings.HasPrefix(host, k+".") || strings.Contains(host, "."+k+"."):
			out = append(out, fmt.Sprintf("has %s in its name, and belongs to %s", k, site))
		case near(siteOf(shown), siteOf(k)):
			out = append(out, fmt.Sprintf("one letter away from %s", k))
		case hasWord(skeleton(shown), brand(k)):
			out = append(out, fmt.Sprintf("has the name of %s in it, and belongs to %s", k, site))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// siteOf returns the registered domain of a host.
func siteOf(host string) string {
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// brand returns the first label of a site, such as "github" of github.com.
func brand(host string) string {
	label, _, _ := strings.Cut(siteOf(host), ".")
	return label
}

// hasWord reports whether a name contains a word between its dots and hyphens.
func hasWord(name, word string) bool {
	return slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }), skeleton(word))
}

// near reports whether two different names differ by one change: a letter added, removed or
// replaced, or two letters swapped.
func near(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if a == b || len(y)-len(x) > 1 || len(x) < 5 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	j := 0
	for j < len(x)-i && x[len(x)-1-j] == y[len(y)-1-j] {
		j++
	}
	if len(x) == len(y) {
		left := len(x) - i - j
		return left == 1 || left == 2 && x[i] == y[i+1] && x[i+1] == y[i]
	}
	return i+j >= len(x)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
