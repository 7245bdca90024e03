// Package proxies is the command proxy: the tool proxy and the model proxy, each as a program of
// its own for agents that somebody else starts. It also has what else starts a tool server outside
// a session: drafting the annotations of its tools.
//
// The tool proxy serves standard input, a socket or a TCP port with a token. Who approves its
// calls is the person at the terminal, or whoever may write to a directory.
package proxies
