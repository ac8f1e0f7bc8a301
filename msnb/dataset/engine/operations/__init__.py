"""The operations of a Dataset that users call: batch, map, shuffle, zip, save and the others."""
