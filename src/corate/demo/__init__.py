"""A small made-up corpus to try Corate on, offline: postal addresses of eight countries."""

from corate.demo.addresses import PARTS, Address, addresses
from corate.demo.files import write_files

__all__ = ["PARTS", "Address", "addresses", "write_files"]
