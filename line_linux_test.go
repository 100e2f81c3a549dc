package tallyring

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Goal: lines that fill a huge page are advised. Method: the kernel's own list of this process's
// memory, which marks advised regions with hg. Whether the kernel (or an emulator in its place)
// heeds advice and lists it is first tried on memory that is nobody's.
func TestNewLinesAdviseHugePages(t *testing.T) {
	control, err := unix.Mmap(-1, 0, 4*hugeBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(control)) }()
	if err := unix.Madvise(control, unix.MADV_HUGEPAGE); err != nil {
		t.Skipf("this system takes no advice about huge pages: %v", err)
	}
	if !slices.Contains(flagsOfMemory(t, address(&control[2*hugeBytes])), "hg") {
		t.Skip("this system does not list what advice it has taken")
	}

	lines := NewLines(8 * hugeBytes / LineBytes)
	flags := flagsOfMemory(t, address(&lines[len(lines)/2]))
	runtime.KeepAlive(lines)
	require.Contains(t, flags, "hg")
}

// flagsOfMemory returns the kernel's flags of the region that holds at, or none if it tells none.
func flagsOfMemory(t *testing.T, at uintptr) []string {
	t.Helper()
	regions, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	inside := false
	lines := bufio.NewScanner(strings.NewReader(string(regions)))
	for lines.Scan() {
		var first, end uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &first, &end); n == 2 {
			inside = first <= at && at < end
		}
		if flags, found := strings.CutPrefix(lines.Text(), "VmFlags:"); found && inside {
			return strings.Fields(flags)
		}
	}
	return nil
}
