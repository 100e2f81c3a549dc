package tallyring

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Goal: lines that fill a huge page are advised, and of memory that begins or ends inside a page
// the whole pages alone. Method: the kernel's own list of this process's memory, which marks
// advised regions with hg. Whether the kernel (or an emulator in its place) heeds advice and lists
// it is first tried by hand.
func TestNewLinesAdviseHugePages(t *testing.T) {
	control := anonymous(t, 4*hugeBytes)
	if err := unix.Madvise(control, unix.MADV_HUGEPAGE); err != nil {
		t.Skipf("this system takes no advice about huge pages: %v", err)
	}
	if !slices.Contains(flagsOfMemory(t, &control[2*hugeBytes]), "hg") {
		t.Skip("this system does not list what advice it has taken")
	}

	lines := NewLines(8 * hugeBytes / LineBytes)
	middle := (*byte)(unsafe.Pointer(&lines[len(lines)/2]))
	require.Contains(t, flagsOfMemory(t, middle), "hg")

	page := os.Getpagesize()
	memory := anonymous(t, 4*hugeBytes)
	adviseHuge(memory[LineBytes : len(memory)-page-LineBytes])
	require.NotContains(t, flagsOfMemory(t, &memory[0]), "hg", "page begun late")
	require.Contains(t, flagsOfMemory(t, &memory[page]), "hg", "first whole page")
	require.Contains(t, flagsOfMemory(t, &memory[len(memory)-2*page-1]), "hg", "last whole page")
	require.NotContains(t, flagsOfMemory(t, &memory[len(memory)-2*page]), "hg", "page ended early")
}

// anonymous returns fresh pages that the test gives back at its end.
func anonymous(t *testing.T, bytes int) []byte {
	t.Helper()
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(memory)) })
	return memory
}

// flagsOfMemory returns the kernel's flags of the region that holds at, or none if it tells none.
func flagsOfMemory(t *testing.T, at *byte) []string {
	t.Helper()
	regions, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	inside := false
	lines := bufio.NewScanner(strings.NewReader(string(regions)))
	for lines.Scan() {
		var first, end uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &first, &end); n == 2 {
			inside = first <= address(at) && address(at) < end
		}
		if flags, found := strings.CutPrefix(lines.Text(), "VmFlags:"); found && inside {
			return strings.Fields(flags)
		}
	}
	return nil
}
