package agent

// Environment lists the variables that every agent gets, such as its proxy, its only root
// certificate, and the type of its terminal.
func Environment() []string {
	env := []string{
		"HOME=" + Home,
		"USER=codespace",
		"SHELL=/bin/bash",
		"LANG=C.UTF-8",
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		// Some agents talk to a server of their own inside the container.
		"NO_PROXY=localhost,127.0.0.1,::1",
		"no_proxy=localhost,127.0.0.1,::1",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"} {
		env = append(env, name+"="+ProxyURL)
	}
	for _, name := range []string{
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"REQUESTS_CA_BUNDLE", "PIP_CERT", "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "DENO_CERT",
		"CODEX_CA_CERTIFICATE",
	} {
		env = append(env, name+"="+CABundle)
	}
	return env
}
