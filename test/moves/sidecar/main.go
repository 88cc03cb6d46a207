// sidecar is what Kubernetes' node-driver-registrar and livenessprobe are to a CSI driver, as far as Microsoft's charts use
// them: neither can be had as a Go module. With -kubelet-registration-path it introduces the driver to kubelet, else it answers
// whether the driver is alive.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

var (
	address  = flag.String("csi-address", "/csi/csi.sock", "the driver's socket")
	endpoint = flag.String("http-endpoint", "", "where to answer /healthz")
	port     = flag.String("health-port", "", "the same, on all addresses")
	timeout  = flag.Duration("probe-timeout", time.Second, "for an answer of the driver")
	path     = flag.String("kubelet-registration-path", "", "the driver's socket, as kubelet sees it")
	_        = flag.Int("v", 0, "nothing")
)

func main() {
	flag.Parse()
	connection, err := grpc.NewClient("unix:"+*address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	identity := csi.NewIdentityClient(connection)
	if *path != "" {
		log.Fatal(register(identity))
	}
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { answer(w, r, identity) })
	if *endpoint == "" {
		*endpoint = ":" + *port
	}
	log.Fatal(http.ListenAndServe(*endpoint, nil))
}

func answer(w http.ResponseWriter, r *http.Request, identity csi.IdentityClient) {
	ctx, cancel := context.WithTimeout(r.Context(), *timeout)
	defer cancel()
	if _, err := identity.Probe(ctx, &csi.ProbeRequest{}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

type registrar struct {
	registration.UnimplementedRegistrationServer
	name string
}

func register(identity csi.IdentityClient) error {
	info, err := identity.GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	socket := "/registration/" + info.Name + "-reg.sock"
	if err := os.RemoveAll(socket); err != nil {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, registrar{name: info.Name})
	return server.Serve(listener)
}

func (r registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: r.name, Endpoint: *path, SupportedVersions: []string{"1.0.0"}}, nil
}

func (r registrar) NotifyRegistrationStatus(
	_ context.Context, status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !status.PluginRegistered {
		log.Fatal(status.Error)
	}
	return &registration.RegistrationStatusResponse{}, nil
}
