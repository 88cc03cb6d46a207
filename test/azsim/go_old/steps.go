package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/services/compute/mgmt/2019-07-01/compute"
	"github.com/Azure/azure-sdk-for-go/services/resources/mgmt/2019-05-01/resources"
	"github.com/Azure/go-autorest/autorest/to"
)

var steps = []struct {
	name string
	do   func(context.Context, *client) error
}{
	{"group", makeGroup},
	{"quotas", readQuotas},
	{"create", createDisks},
	{"attach", attach},
	{"instance", attachToInstance},
	{"snapshot", snapshot},
	{"power", power},
	{"detach", detach},
	{"delete", deleteGroup},
}

func expect(what bool, format string, arguments ...any) error {
	if what {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

// Whether an error is Azure's, with that code; go-autorest has several types for it.
func isRefusal(err error, code string) bool {
	return err != nil && strings.Contains(err.Error(), `Code="`+code+`"`)
}

func (c *client) diskID(name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/disks/%s",
		c.subscription, c.group, name)
}

func makeGroup(ctx context.Context, c *client) error {
	response, err := c.groups.CheckExistence(ctx, c.group)
	if err != nil {
		return err
	}
	if err := expect(response.StatusCode == http.StatusNotFound, "it is there already"); err != nil {
		return err
	}
	group, err := c.groups.CreateOrUpdate(ctx, c.group, resources.Group{
		Location: &c.location, Tags: map[string]*string{"kind": to.StringPtr("old")}})
	if err != nil {
		return err
	}
	return expect(to.String(group.Tags["kind"]) == "old" && group.StatusCode == http.StatusCreated,
		"%d %v", group.StatusCode, group.Tags)
}

func readQuotas(ctx context.Context, c *client) error {
	cores := int64(0)
	for usages, err := c.usages.ListComplete(ctx, c.location); usages.NotDone(); err = usages.NextWithContext(ctx) {
		if err != nil {
			return err
		}
		if to.String(usages.Value().Name.Value) == "cores" {
			cores = *usages.Value().Limit
		}
	}
	sizes, err := c.sizes.List(ctx, c.location)
	if err != nil {
		return err
	}
	n := 0
	for skus, err := c.skus.ListComplete(ctx, "location eq '"+c.location+"'"); skus.NotDone(); err = skus.NextWithContext(ctx) {
		if err != nil {
			return err
		}
		n++
	}
	return expect(cores > 0 && len(*sizes.Value) > 0 && n > 0, "%d cores, %d SKUs", cores, n)
}

func createDisks(ctx context.Context, c *client) error {
	for _, name := range []string{"one", "two"} {
		future, err := c.disks.CreateOrUpdate(ctx, c.group, name, compute.Disk{
			Location: &c.location, Zones: &[]string{"1"},
			Sku: &compute.DiskSku{Name: compute.PremiumLRS},
			DiskProperties: &compute.DiskProperties{
				DiskSizeGB:   to.Int32Ptr(4),
				CreationData: &compute.CreationData{CreateOption: compute.Empty}}})
		if err != nil {
			return err
		}
		if err := future.WaitForCompletionRef(ctx, c.disks.Client); err != nil {
			return err
		}
		disk, err := future.Result(c.disks)
		if err != nil {
			return err
		}
		if err := expect(disk.DiskState == compute.Unattached, "%s is %s", name, disk.DiskState); err != nil {
			return err
		}
	}
	update, err := c.disks.Update(ctx, c.group, "two", compute.DiskUpdate{
		DiskUpdateProperties: &compute.DiskUpdateProperties{DiskSizeGB: to.Int32Ptr(8)}})
	if err != nil {
		return err
	}
	if err := update.WaitForCompletionRef(ctx, c.disks.Client); err != nil {
		return err
	}
	_, err = c.disks.Get(ctx, c.group, "three")
	return expect(isRefusal(err, "ResourceNotFound"), "a disk that is not there: %v", err)
}

// What a VM's model says of its data disks, without or with one more.
func dataDisks(present *[]compute.DataDisk, lun int32, id string) *[]compute.DataDisk {
	list := []compute.DataDisk{}
	if present != nil {
		list = *present
	}
	if id != "" {
		list = append(list, compute.DataDisk{
			Lun: &lun, CreateOption: compute.DiskCreateOptionTypesAttach, Caching: compute.CachingTypesReadOnly,
			Name: to.StringPtr(id[strings.LastIndex(id, "/")+1:]), ManagedDisk: &compute.ManagedDiskParameters{ID: &id}})
	}
	return &list
}

func attach(ctx context.Context, c *client) error {
	vm, err := c.vms.Get(ctx, c.vmGroup(), "vm1", compute.InstanceView)
	if err != nil {
		return err
	}
	future, err := c.vms.Update(ctx, c.vmGroup(), "vm1", compute.VirtualMachineUpdate{
		VirtualMachineProperties: &compute.VirtualMachineProperties{
			StorageProfile: &compute.StorageProfile{
				DataDisks: dataDisks(vm.StorageProfile.DataDisks, 5, c.diskID("one"))}}})
	if err != nil {
		return err
	}
	if err := future.WaitForCompletionRef(ctx, c.vms.Client); err != nil {
		return err
	}
	vm, err = future.Result(c.vms)
	if err != nil {
		return err
	}
	disk, err := c.disks.Get(ctx, c.group, "one")
	if err != nil {
		return err
	}
	return expect(len(*vm.StorageProfile.DataDisks) == 1 && disk.DiskState == compute.Attached &&
		strings.EqualFold(to.String(disk.ManagedBy), *vm.ID), "%v of %v", disk.DiskState, to.String(disk.ManagedBy))
}

// The group of the VMs, which are the configuration's.
func (c *client) vmGroup() string {
	return "rg"
}

func attachToInstance(ctx context.Context, c *client) error {
	vm, err := c.instances.Get(ctx, c.vmGroup(), "pool", "3", compute.InstanceView)
	if err != nil {
		return err
	}
	vm.StorageProfile.DataDisks = dataDisks(vm.StorageProfile.DataDisks, 0, c.diskID("two"))
	future, err := c.instances.Update(ctx, c.vmGroup(), "pool", "3", compute.VirtualMachineScaleSetVM{
		Location: vm.Location, VirtualMachineScaleSetVMProperties: &compute.VirtualMachineScaleSetVMProperties{
			StorageProfile: vm.StorageProfile}})
	if err != nil {
		return err
	}
	if err := future.WaitForCompletionRef(ctx, c.instances.Client); err != nil {
		return err
	}
	if _, err := future.Result(c.instances); err != nil {
		return err
	}
	other, err := c.vms.Update(ctx, c.vmGroup(), "vm2", compute.VirtualMachineUpdate{
		VirtualMachineProperties: &compute.VirtualMachineProperties{StorageProfile: &compute.StorageProfile{
			DataDisks: dataDisks(nil, 0, c.diskID("two"))}}})
	if err == nil {
		err = other.WaitForCompletionRef(ctx, c.vms.Client)
	}
	return expect(isRefusal(err, "ConflictingUserInput"), "a disk of two VMs: %v", err)
}

// The disk is named as clients named it then, in a member for blobs.
func snapshot(ctx context.Context, c *client) error {
	source := c.diskID("one")
	future, err := c.snapshots.CreateOrUpdate(ctx, c.group, "s", compute.Snapshot{
		Location: &c.location, SnapshotProperties: &compute.SnapshotProperties{
			Incremental:  to.BoolPtr(true),
			CreationData: &compute.CreationData{CreateOption: compute.Copy, SourceURI: &source}}})
	if err != nil {
		return err
	}
	if err := future.WaitForCompletionRef(ctx, c.snapshots.Client); err != nil {
		return err
	}
	made, err := future.Result(c.snapshots)
	if err != nil {
		return err
	}
	return expect(to.String(made.CreationData.SourceResourceID) == source && to.Int32(made.DiskSizeGB) == 4,
		"of %s", to.String(made.CreationData.SourceResourceID))
}

func power(ctx context.Context, c *client) error {
	ids := compute.VirtualMachineScaleSetVMInstanceIDs{InstanceIds: &[]string{"3"}}
	stop, err := c.sets.Deallocate(ctx, c.vmGroup(), "pool", &ids)
	if err != nil {
		return err
	}
	if err := stop.WaitForCompletionRef(ctx, c.sets.Client); err != nil {
		return err
	}
	disk, err := c.disks.Get(ctx, c.group, "two")
	if err != nil {
		return err
	}
	if err := expect(disk.DiskState == compute.Reserved, "it is %s", disk.DiskState); err != nil {
		return err
	}
	start, err := c.sets.Start(ctx, c.vmGroup(), "pool", &ids)
	if err != nil {
		return err
	}
	return start.WaitForCompletionRef(ctx, c.sets.Client)
}

func detach(ctx context.Context, c *client) error {
	vm, err := c.vms.Get(ctx, c.vmGroup(), "vm1", "")
	if err != nil {
		return err
	}
	disks := *vm.StorageProfile.DataDisks
	disks[0].ToBeDetached = to.BoolPtr(true)
	future, err := c.vms.CreateOrUpdate(ctx, c.vmGroup(), "vm1", compute.VirtualMachine{
		Location: vm.Location, VirtualMachineProperties: &compute.VirtualMachineProperties{
			StorageProfile: &compute.StorageProfile{DataDisks: &disks}}})
	if err != nil {
		return err
	}
	if err := future.WaitForCompletionRef(ctx, c.vms.Client); err != nil {
		return err
	}
	vm, err = future.Result(c.vms)
	if err != nil {
		return err
	}
	return expect(len(*vm.StorageProfile.DataDisks) == 0, "it has %d", len(*vm.StorageProfile.DataDisks))
}

// Not while an instance of another group has a disk in it.
func deleteGroup(ctx context.Context, c *client) error {
	blocked, err := c.groups.Delete(ctx, c.group)
	if err != nil {
		return err
	}
	err = blocked.WaitForCompletionRef(ctx, c.groups.Client)
	if err := expect(isRefusal(err, "ResourceGroupDeletionBlocked"),
		"with an attached disk: %v", err); err != nil {
		return err
	}
	gone, err := c.instances.Delete(ctx, c.vmGroup(), "pool", "3")
	if err != nil {
		return err
	}
	if err := gone.WaitForCompletionRef(ctx, c.instances.Client); err != nil {
		return err
	}
	future, err := c.groups.Delete(ctx, c.group)
	if err != nil {
		return err
	}
	if err := future.WaitForCompletionRef(ctx, c.groups.Client); err != nil {
		return err
	}
	response, err := c.groups.CheckExistence(ctx, c.group)
	if err != nil {
		return err
	}
	return expect(response.StatusCode == http.StatusNotFound, "it is still there")
}
