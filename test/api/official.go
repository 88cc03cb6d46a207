// Prints what the official Go modules say of the APIs that lib/api declares, as JSON: a serialized
// FileDescriptorProto for each, and the fields that CSI marks as secrets.
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
	Files   map[string][]byte `json:"files"` // by the name of our .proto
	Secrets []string          `json:"secrets"`
}

func serialized(file protoreflect.FileDescriptor) []byte {
	bytes, err := proto.Marshal(protodesc.ToFileDescriptorProto(file))
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}

func secrets(messages protoreflect.MessageDescriptors) []string {
	var names []string

	for i := range messages.Len() {
		fields := messages.Get(i).Fields()
		for j := range fields.Len() {
			if proto.GetExtension(fields.Get(j).Options(), csi.E_CsiSecret).(bool) {
				names = append(names, string(fields.Get(j).FullName()))
			}
		}
		names = append(names, secrets(messages.Get(i).Messages())...)
	}
	return names
}

func main() {
	csiFile := csi.File_csi_proto
	registrationFile := (&registration.PluginInfo{}).ProtoReflect().Descriptor().ParentFile()
	err := json.NewEncoder(os.Stdout).Encode(official{
		Files: map[string][]byte{
			"csi.proto":                serialized(csiFile),
			"pluginregistration.proto": serialized(registrationFile),
		},
		Secrets: secrets(csiFile.Messages()),
	})
	if err != nil {
		log.Fatal(err)
	}
}
