package report

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Origin is where figures come from.
type Origin struct {
	System, Arch, CPU, Go, Commit, Command string
	Processors                             int
}

// OriginNow returns what this process runs on. What cannot be found is "unknown".
func OriginNow(command string) Origin {
	return Origin{
		System: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName(), Go: runtime.Version(),
		Commit: commit(), Command: command, Processors: runtime.NumCPU(),
	}
}

const unknown = "unknown"

// cpuName asks Linux or macOS for the processor's name.
func cpuName() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if name := field(text, "model name"); name != "" {
			return name
		}
	}
	if text, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
		return strings.TrimSpace(string(text))
	}
	if text, err := exec.Command("lscpu").Output(); err == nil {
		if name := field(text, "Model name"); name != "" {
			return name
		}
	}
	return unknown
}

// field returns the value of the first line "name : value".
func field(text []byte, name string) string {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit returns the short hash of what is checked out, and says if that was changed since.
func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return unknown
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	name := strings.TrimSpace(string(hash))
	if err != nil || len(bytes.TrimSpace(changes)) > 0 {
		return name + " with changes"
	}
	return name
}
