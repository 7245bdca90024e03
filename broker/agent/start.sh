#!/bin/sh
# The container's main process, until it becomes the agent.
#
# The bridge carries the agent's proxy connections to the host's socket. It has a
# session of its own, so that Ctrl-C in the tab does not reach it, and says
# nothing, because its words would land on the agent's screen.
setsid socat TCP-LISTEN:18080,bind=127.0.0.1,fork,reuseaddr \
	UNIX-CONNECT:/run/ironcurtain/mitm-proxy.sock </dev/null >/dev/null 2>&1 &

# A terminal starts at 0x0; the host sets its size as soon as it is attached.
tries=0
while [ "$(stty size 2>/dev/null)" = "0 0" ] && [ "$tries" -lt 200 ]; do
	sleep 0.01
	tries=$((tries + 1))
done

cd /workspace || exit 1
exec "$@"
