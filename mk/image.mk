# make image       the driver's container image (image/), as an archive that container tools load, and
#                  what is in it (CycloneDX): build/image.tar, build/image.cdx.json; with ARCHITECTURE=arm64
#                  in build/arm64
# make sim-image   the simulation's, with azsim: build/sim-image.tar (docs/simulation.md)

IMAGE ?= azuredisk-csi:$(VERSION)
SIM_IMAGE ?= azdisk-sim:$(VERSION)

.PHONY: image sim-image
image: programs | $(call packages,image)
	@PYTHONDONTWRITEBYTECODE=1 python3 -m image $(IMAGE) $(VERSION) $(BUILD)/image.tar

sim-image: programs $(SIM) | $(call packages,image)
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 python3 -m sim.sim_image $(SIM_IMAGE) $(BUILD)/sim-image.tar
