//go:build !race

package broker

// fetchMemory bounds our own tool server as serverMemory does others.
const fetchMemory = serverMemory
