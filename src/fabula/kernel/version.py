"""The version of Fabula: the one place where it is written."""

VERSION = "0.1.0"
