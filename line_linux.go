package tallyring

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks the kernel to back the whole pages inside memory by huge pages. It is advice: a
// refusal changes speed alone, and so is not reported.
func adviseHuge(memory []byte) {
	page := uintptr(os.Getpagesize())
	first := uintptr(unsafe.Pointer(&memory[0]))
	head := int(-first % page)
	tail := int((first + uintptr(len(memory))) % page)
	if head+tail >= len(memory) {
		return
	}
	_ = unix.Madvise(memory[head:len(memory)-tail], unix.MADV_HUGEPAGE)
}
