"""Content in the journal: images and files that outlive the server that gave them."""
