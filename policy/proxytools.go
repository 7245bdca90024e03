package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/schema"
)

// ProxyServer is the reserved server name of the tools of the host itself: those with which
// an agent asks for more domains and for packages, and the one that runs its programs. They
// exist under every policy.
const ProxyServer = "proxy"

// Execute is the tool that runs a program. It has no effect but the calls of the program, and
// each of them is judged.
const Execute = "execute"

func proxyTools() map[toolKey]*annotation {
	tools := map[toolKey]*annotation{}
	add := func(name string, args ...string) {
		a := &annotation{key: toolKey{ProxyServer, name}, args: map[string]argument{}, schema: textsOnly(args)}
		for _, arg := range args {
			a.args[arg] = argument{}
		}
		if slices.Contains(args, "domain") {
			a.args["domain"] = argument{roles: []Role{ProxyDomain}}
		}
		tools[a.key] = a
	}
	add("add_proxy_domain", "domain", "justification")
	add("remove_proxy_domain", "domain")
	add("list_proxy_domains")
	add("request_package", "ecosystem", "name", "version", "justification")
	add(Execute, "code")
	return tools
}

// textsOnly returns the schema of a tool whose arguments are all required strings.
func textsOnly(args []string) *schema.Schema {
	text := jsonx.Value{Kind: jsonx.Object}.With("type", jsonx.Text("string"))
	properties, required := jsonx.Value{Kind: jsonx.Object}, jsonx.Value{Kind: jsonx.Array}
	for _, arg := range args {
		properties = properties.With(arg, text)
		required.Items = append(required.Items, jsonx.Text(arg))
	}
	s := jsonx.Value{Kind: jsonx.Object}.With("type", jsonx.Text("object")).With("properties", properties).
		With("additionalProperties", jsonx.Value{Kind: jsonx.Bool})
	if len(args) > 0 {
		s = s.With("required", required)
	}
	return schema.New(s)
}

func proxyRules() []Rule {
	on := func(name, tool string, then Decision, reason string) Rule {
		return Rule{Name: name, Reason: reason, Then: then, If: Condition{Servers{ProxyServer}, Tools{tool}}}
	}
	return []Rule{
		on("proxy-add-domain-escalate", "add_proxy_domain", Escalate, "a new domain for the agent's network access needs a person's approval"),
		on("proxy-remove-domain-allow", "remove_proxy_domain", Allow, "giving up access is always allowed"),
		on("proxy-execute-allow", Execute, Allow, "a program can do nothing but make calls, and each call is judged by itself"),
		on("proxy-list-domains-allow", "list_proxy_domains", Allow, "listing one's own access is always allowed"),
		on("proxy-request-package-allow", "request_package", Allow, "asking for a package is always allowed; a person decides about its bytes"),
	}
}
