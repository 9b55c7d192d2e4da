"""The commands of ``marginlab``, one file each; each loads only what it needs."""
