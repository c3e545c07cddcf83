"""What is optional: a folder for each feature, behind one record. `codemode.features.all` lists them."""
