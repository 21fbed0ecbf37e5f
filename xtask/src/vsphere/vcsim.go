// vSphere's API without hosts, as the vendor's own library simulates it.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/vmware/govmomi/simulator"
)

func main() {
	model := simulator.VPX()
	model.Datastore = 2
	if err := model.Create(); err != nil {
		panic(err)
	}
	defer model.Remove()
	server := model.Service.NewServer()
	defer server.Close()
	fmt.Println(server.URL)
	// It lives as long as whoever started it listens.
	_, _ = io.Copy(io.Discard, os.Stdin)
}
