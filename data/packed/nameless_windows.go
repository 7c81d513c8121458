package packed

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// nameless opens a file that is deleted when it is closed, as it is when the process ends, however that ends.
func nameless(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, ".pawl-rows-"+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
}
