#include "clr/image.h"

#include "base/status.h"

int clr_image_open(struct clr_image **image, struct bytes file)
{
	(void)file;
	*image = NULL;
	return STATUS_NOT_FORMAT;
}

void clr_image_free(struct clr_image *image)
{
	(void)image;
}
