"""What `codemode.service.CodeMode` is composed of: what is learned, what models find, and what runs their programs."""
