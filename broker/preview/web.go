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

// web returns the effect of requesting a URL.
func (p *Previewer) web(raw string) *Effect {
	d := p.newDraft(Web)
	u, err := urlx.Parse(raw)
	if err != nil {
		d.fail(err, "the URL is invalid")
		return d.done("fetches %s", raw)
	}
	d.host(u.Scheme, u.Host, u.Port, p.Known)
	_, rest, _ := strings.Cut(u.String(), "://")
	if _, path, _ := strings.Cut(rest, "/"); path != "" {
		d.note("path: /%s", path)
		if _, query, has := strings.Cut(path, "?"); has && len(query) > 100 {
			d.warn("the query sends %s to the host", plural(len(query), "byte"))
		}
	}
	return d.done("sends a request to %s", u.Host)
}

// domainEffect returns the effect of allowing one more host.
func (p *Previewer) domainEffect(c policy.Call) *Effect {
	var a struct {
		Domain string `json:"domain"`
	}
	if c.Tool != "add_proxy_domain" || json.Unmarshal(c.Arguments, &a) != nil {
		return nil
	}
	d := p.newDraft(Web)
	d.host("https", a.Domain, urlx.DefaultPort("https"), p.Known)
	d.warn("requests can send what the agent has read to this host")
	return d.done("lets the agent read from %s", a.Domain)
}

// host adds a host with the site that it belongs to, and warnings if it looks like another host.
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

// LookAlike returns warnings, sorted, if a canonical host can be mistaken for another: because of
// letters of other scripts, letters that look like others, or a known site's name in front of another.
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
	isKnown := slices.ContainsFunc(known, func(k string) bool { return siteOf(k) == site })
	for _, k := range known {
		switch {
		case strings.HasPrefix(host, k+".") || strings.Contains(host, "."+k+"."):
			out = append(out, fmt.Sprintf("has %s in its name, and belongs to %s", k, site))
		case isKnown: // and not a copy of another that is
		case skeleton(shown) == skeleton(k), skeleton(siteOf(shown)) == skeleton(siteOf(k)):
			out = append(out, fmt.Sprintf("looks like %s, and is not", k))
		case oneEditApart(siteOf(shown), siteOf(k)):
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

// brand returns the first label of a host's site, such as "github" for github.com.
func brand(host string) string {
	label, _, _ := strings.Cut(siteOf(host), ".")
	return label
}

// hasWord reports whether a word is one of a name's parts between dots, hyphens and underscores.
func hasWord(name, word string) bool {
	return slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' }), skeleton(word))
}

// oneEditApart reports whether two names differ by one edit: a letter added, removed or replaced, or two
// adjacent letters swapped.
func oneEditApart(a, b string) bool {
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
