// Prints what the official Go modules say of the APIs that lib/api declares, as JSON: a serialized
// FileDescriptorProto for each.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

type official struct {
	Files map[string][]byte `json:"files"` // by the name of our .proto
}

func serialized(file protoreflect.FileDescriptor) []byte {
	bytes, err := proto.Marshal(protodesc.ToFileDescriptorProto(file))
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}

func main() {
	registrationFile := (&registration.PluginInfo{}).ProtoReflect().Descriptor().ParentFile()
	err := json.NewEncoder(os.Stdout).Encode(official{
		Files: map[string][]byte{
			"csi.proto":                serialized(csi.File_csi_proto),
			"pluginregistration.proto": serialized(registrationFile),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
}
