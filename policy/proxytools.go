package policy

// ProxyServer is the reserved name of the tools by which an agent asks for
// more domains. They exist under every policy.
const ProxyServer = "proxy"

func proxyTools() map[toolKey]*annotation {
	tools := map[toolKey]*annotation{}
	add := func(name string, args map[string]argument) {
		key := toolKey{ProxyServer, name}
		tools[key] = &annotation{key: key, args: args}
	}
	domain := argument{roles: []Role{ProxyDomain}}
	add("add_proxy_domain", map[string]argument{"domain": domain, "justification": {}})
	add("remove_proxy_domain", map[string]argument{"domain": domain})
	add("list_proxy_domains", map[string]argument{})
	return tools
}

func proxyRules() []*rule {
	on := func(name, tool string, then Decision, reason string) *rule {
		return &rule{name: name, reason: reason, then: then, servers: []string{ProxyServer}, tools: []string{tool}}
	}
	return []*rule{
		on("proxy-add-domain-escalate", "add_proxy_domain", Escalate, "a new domain for the agent's network access needs a person's approval"),
		on("proxy-remove-domain-allow", "remove_proxy_domain", Allow, "giving up access is always allowed"),
		on("proxy-list-domains-allow", "list_proxy_domains", Allow, "listing one's own access is always allowed"),
	}
}
