package packed

import (
	"bytes"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// share is the part of memory that rows of one table may take before they go to a file.
const share = 3

// Limit is the memory that one table may take: a third of GOMEMLIMIT, of the machine's memory, or of what the process
// may have by its control group, whichever is least.
func Limit() int64 { return Memory() / share }

// Memory is how much there is for the process; 8 GiB where nothing says it.
func Memory() int64 {
	least := int64(math.MaxInt64)
	limits := []int64{debug.SetMemoryLimit(-1), installed()}
	content, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range groupLimits(string(content)) {
		limits = append(limits, number(file))
	}
	for _, n := range limits {
		if n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return 8 << 30
	}
	return least
}

// groupLimits are the files that may hold the limits of a process's control groups, by the content of its file cgroup:
// those of the group that it is in and of all above it, of version 2 and of version 1.
func groupLimits(content string) (files []string) {
	for _, line := range strings.Split(content, "\n") {
		_, named, _ := strings.Cut(line, ":")
		controllers, group, ok := strings.Cut(named, ":")
		root, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case !ok:
			continue
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		for group = path.Join("/", group); ; group = path.Dir(group) {
			files = append(files, path.Join(root, group, file))
			if group == "/" {
				break
			}
		}
	}
	return files
}

// installed is the memory of a machine with Linux, 0 elsewhere.
func installed() int64 {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(content)
	if len(fields) < 2 || string(fields[0]) != "MemTotal:" {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return n << 10
}

// number is what a file of the system says, 0 for none or no limit.
func number(path string) int64 {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(content)), 10, 64)
	return n
}
