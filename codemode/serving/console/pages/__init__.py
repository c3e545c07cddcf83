"""The pages of the console. Each module has `routes(console)`, and its templates in a folder of the same name."""
