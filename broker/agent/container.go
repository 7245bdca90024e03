package agent

import "fmt"

// Command is the container's command line for an agent's own: the bridge opens
// the way to the proxy, waits for the terminal's size and becomes the agent.
func Command(argv []string) []string {
	return append([]string{Bridge, "run", "--"}, argv...)
}

// KeptCommand is that command line where no sockets are mounted: the bridge keeps the agent's
// terminal, and the host reaches both over a stream.
func KeptCommand(argv []string) []string {
	return append([]string{Bridge, "keep", "--"}, argv...)
}

// Accounts are the passwd and group files of a container whose only person is
// the agent, with these ids. Where they are 0, the agent is the only one who has them.
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
