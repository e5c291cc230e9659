"""What happens to a document: load, chunk, extract, write, resolve, embed, retrieve, cite."""
