# make image   the driver's container image, as an archive that container tools load

IMAGE ?= azuredisk-csi:$(VERSION)

.PHONY: image
image: programs
	@PYTHONPATH=test PYTHONDONTWRITEBYTECODE=1 python3 -m deployment.image $(IMAGE) $(BUILD)/image.tar
