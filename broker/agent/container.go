package agent

import "fmt"

// Command returns the container's command line for an agent's command line: the bridge connects to
// the proxy, waits for the terminal's size and becomes the agent.
func Command(argv []string) []string {
	return append([]string{Bridge, "run", "--"}, argv...)
}

// KeptCommand is Command for a container without mounted sockets: the bridge stays the main process
// as the keeper, with the agent's terminal, and the host reaches it by the stream.
func KeptCommand(argv []string) []string {
	return append([]string{Bridge, "keep", "--"}, argv...)
}

// Accounts returns the passwd and group files of a container, with these IDs for the agent. They also
// list root, except for an ID 0, which is then the agent's alone.
func Accounts(uid, gid int) []File {
	passwd := fmt.Sprintf("codespace:x:%d:%d:agent:%s:/bin/bash\n", uid, gid, Home)
	group := fmt.Sprintf("codespace:x:%d:\n", gid)
	if uid != 0 {
		passwd = "root:x:0:0:root:/root:/usr/sbin/nologin\n" + passwd
	}
	if gid != 0 {
		group = "root:x:0:\n" + group
	}
	return []File{
		{Path: "passwd", Data: []byte(passwd), Mode: 0o444, Orientation: true},
		{Path: "group", Data: []byte(group), Mode: 0o444, Orientation: true},
	}
}
