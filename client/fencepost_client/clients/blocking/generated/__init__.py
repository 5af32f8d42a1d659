"""Generated modules; see ``codegen`` beside this folder."""
