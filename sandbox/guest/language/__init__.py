"""What a program may say: decided on its syntax tree, before anything of it runs."""
