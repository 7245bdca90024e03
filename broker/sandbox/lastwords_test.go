package sandbox

import "testing"

// What servers print when they end tells why by one line, and that is seldom
// the last.
func TestLastWords(t *testing.T) {
	const trace = "    at Module._load (node:internal/modules/cjs/loader:1038:27)\n    at node:internal/main/run_main_module:28:49"
	for text, want := range map[string]string{
		"":                          "",
		"\n \n":                     "",
		"started\nno such host\n":   "no such host",
		"Node.js v20.20.2\n":        "Node.js v20.20.2",
		"usage:\n  server --flag":   "usage:",
		"  server --flag\n}\n":      "server --flag",
		"}\n":                       "}",
		"looking at a\nat a\n}\n\n": "looking at a",
		"t.js:1\nthrow new Error('bad thing')\n^\n\nError: bad thing\n" + trace + "\n\nNode.js v20.20.2\n": "Error: bad thing",
		"loader:1210\n  throw err;\n  ^\n\nError: Cannot find module './nope'\nRequire stack:\n- /srv/r.js\n" + trace +
			" {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/srv/r.js' ]\n}\n\nNode.js v20.20.2\n": "Error: Cannot find module './nope'",
		"resolve:283\n    throw new ERR(\n          ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find module 'a'\n" + trace +
			" {\n  code: 'ERR_MODULE_NOT_FOUND',\n  more: {\n    a: [\n      1\n    ]\n  }\n}\n\nNode.js v20.20.2\n": "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'a'",
		"Error: an old one\n" + trace + "\n\nNotFound: the key\n" + trace + "\n":      "NotFound: the key",
		"Error: lost\n" + trace + "\ngiving up: port 80 is taken\nNode.js v20.20.2\n": "giving up: port 80 is taken",
		"npm warn old\nnpm error code EROFS\nnpm error syscall mkdir\nnpm error path /home/me/.npm\nnpm error errno EROFS\nnpm error rofs EROFS: read-only file system, mkdir '/home/me/.npm'\n" +
			"npm error rofs Often virtualized file systems are read-only.\nnpm error You can rerun the command with `--loglevel=verbose` to see the logs in your terminal\n": "npm error rofs EROFS: read-only file system, mkdir '/home/me/.npm'",
		"npm error code E404\nnpm error 404 Not Found\nbut it runs\nno such host\n": "no such host",
		"npm error code EUNKNOWN\n": "npm error code EUNKNOWN",
		"Traceback (most recent call last):\n  File \"s.py\", line 1, in <module>\nModuleNotFoundError: No module named 'x'\n": "ModuleNotFoundError: No module named 'x'",
	} {
		if got := lastWords(text); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}
