"""Write tournaments as bundles of files, and audit bundles and stores.

docs/reference/bundle.md specifies the files.
"""
