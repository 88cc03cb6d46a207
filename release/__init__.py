"""Makes what users fetch: the image and what is in it, the chart, azdiskctl, their checksums and a signature."""
